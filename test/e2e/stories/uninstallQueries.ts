// The public documents of the uninstall story, and the part of their answers that it looks at.

export const LIST = `query ($ns: String!) {
  deployments(filter: { namespaces: [$ns] }) {
    totalCount
    nodes {
      name phase backend revision helmStatus chart { name }
      pods { total ready terminating counting gpus }
      deletion {
        stage podsRemaining requestedBy note
        pods { name phase node counts reason deletionTimestamp }
        blockers { kind name }
      }
    }
  }
}`

export const STREAM = `subscription ($ns: String!, $name: String!) {
  deploymentPhaseChanged(namespace: $ns, name: $name, snapshot: true) {
    kind at namespace name previousPhase phase cause goneBecause
    deployment { phase deletion { stage } }
  }
}`

export const UNINSTALL = `mutation ($input: UninstallReleaseInput!) {
  uninstallRelease(input: $input) {
    __typename
    ... on UninstallReleasePayload { alreadyInProgress cursor deployment { phase } run { action outcome } }
    ... on UserError { code message retryable }
  }
}`

export const RUNS = `query ($ns: String!, $name: String!) {
  runs(filter: { namespace: $ns, name: $name }) {
    available
    nodes { action outcome backend note error endedAt }
  }
}`

type DeletionPod = {
  name: string
  counts: boolean
  reason: string
  node: string
  deletionTimestamp: string | null
}
export type Row = {
  name: string
  phase: string
  backend: string
  revision: number
  helmStatus: string | null
  chart: { name: string } | null
  pods: { total: number; ready: number; terminating: number; counting: number; gpus: number }
  deletion: {
    stage: string
    podsRemaining: number
    note: string
    pods: DeletionPod[]
    blockers: { kind: string; name: string }[]
  } | null
}
export type ListData = { deployments: { totalCount: number; nodes: Row[] } }

export type PhaseEvent = {
  kind: string
  previousPhase: string | null
  phase: string | null
  goneBecause: string | null
  deployment: { phase: string; deletion: object | null } | null
}
export type StreamData = { deploymentPhaseChanged: PhaseEvent }

export type UninstallData = {
  uninstallRelease: { __typename: string; alreadyInProgress?: boolean; deployment?: { phase: string } | null }
}

type Run = {
  action: string
  outcome: string
  backend: string
  note: string | null
  error: string | null
  endedAt: string | null
}
export type RunsData = { runs: { available: boolean; nodes: Run[] } }
