/** What a newcomer finds in GraphiQL, ready to run: the list, the stream, and an uninstall. */
export const READY_TABS = [
  {
    query: `# What is running here, and in which phase.
query Deployments {
  deployments {
    totalCount
    countsByPhase { phase count }
    nodes {
      namespace
      name
      phase
      phaseReason
      revision
      pods { ready total gpus }
      deletion {
        stage
        podsRemaining
        blockers { kind name message }
      }
    }
  }
}
`,
  },
  {
    query: `# The phases as they are, then each change.
# Leave it running, and uninstall a release
# from another window.
subscription PhaseChanges {
  deploymentPhaseChanged(snapshot: true) {
    kind
    at
    namespace
    name
    previousPhase
    phase
    reason
    goneBecause
    deployment {
      deletion { stage podsRemaining }
    }
  }
}
`,
  },
  {
    query: `# Takes the release chat away. It stays in
# the list, UNINSTALLING, until its last pod
# is gone.
mutation UninstallChat {
  uninstallRelease(
    input: { namespace: "team-a", name: "chat" }
  ) {
    __typename
    ... on UninstallReleasePayload {
      alreadyInProgress
      output
      deployment {
        phase
        deletion {
          stage
          podsRemaining
          pods { name reason message }
        }
      }
    }
    ... on UserError {
      code
      message
      retryable
    }
  }
}
`,
  },
]
