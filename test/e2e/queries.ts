// The public documents of the stories, and the part of their answers that they look at.

export const LIST = `query ($ns: String!) {
  deployments(filter: { namespaces: [$ns] }) {
    totalCount
    nodes {
      name phase phaseReason backend revision helmStatus uid chart { name } drift { kind }
      pods { total ready terminating counting gpus }
      deletion {
        stage podsRemaining requestedBy note
        pods { name phase node counts reason deletionTimestamp ignoredAt }
        blockers { kind name }
        leftBehind { kind name }
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
    ... on UninstallReleasePayload { alreadyInProgress output cursor deployment { phase } run { id action outcome } }
    ... on UserError { code message retryable }
  }
}`

export const RUNS = `query ($ns: String!, $name: String!) {
  runs(filter: { namespace: $ns, name: $name }) {
    available
    nodes { id action outcome backend actor note error endedAt }
  }
}`

export type DeletionPod = {
  name: string
  counts: boolean | null
  reason: string | null
  node: string | null
  deletionTimestamp: string | null
  ignoredAt: string | null
}
export type Row = {
  name: string
  phase: string
  phaseReason: string | null
  backend: string
  revision: number | null
  helmStatus: string | null
  uid: string | null
  chart: { name: string } | null
  drift: { kind: string } | null
  pods: { total: number; ready: number; terminating: number; counting: number; gpus: number }
  deletion: {
    stage: string | null
    podsRemaining: number | null
    requestedBy: string | null
    note: string | null
    pods: DeletionPod[] | null
    blockers: { kind: string; name: string | null }[]
    leftBehind: { kind: string; name: string }[]
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

export type UninstallAnswer = {
  __typename: string
  alreadyInProgress?: boolean
  output?: string
  deployment?: { phase: string } | null
  run?: { id: string; action: string; outcome: string } | null
  code?: string
  message?: string
  retryable?: boolean
}
export type UninstallData = { uninstallRelease: UninstallAnswer }

export type Run = {
  id: string
  action: string
  outcome: string
  backend: string
  actor: string | null
  note: string | null
  error: string | null
  endedAt: string | null
}
export type RunsData = { runs: { available: boolean; nodes: Run[] } }

export const COMPOSE = `mutation ($input: ComposePlanInput!) {
  composePlan(input: $input) {
    __typename
    ... on ComposePlanPayload { plan { hash } changes { path from to } }
    ... on UserError { code message }
  }
}`

const CHANGED = `{
  __typename
  ... on ApplyPlanPayload { revision output deployment { phase revision } run { action outcome changed planHash } }
  ... on HelmFailedError { output exitCode run { action outcome error } }
  ... on UserError { code message retryable }
}`
export const APPLY = `mutation ($input: ApplyPlanInput!) { applyPlan(input: $input) ${CHANGED} }`
export const ROLLBACK = `mutation ($input: RollbackReleaseInput!) { rollbackRelease(input: $input) ${CHANGED} }`

export type ComposeAnswer = {
  __typename: string
  plan?: { hash: string }
  changes?: { path: string; from: unknown; to: unknown }[]
  message?: string
}
export type ChangeAnswer = {
  __typename: string
  revision?: number | null
  output?: string
  exitCode?: number | null
  deployment?: { phase: string; revision: number | null } | null
  run?: { action: string; outcome: string; changed?: boolean; planHash?: string | null } | null
  code?: string
  message?: string
}

export const CLUSTER = '{ cluster { llmServicesServed warnings leader } }'
export type ClusterData = {
  cluster: { llmServicesServed: boolean; warnings: string[]; leader: string | null }
}
