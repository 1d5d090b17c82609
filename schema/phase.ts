import type {
  Backend as BackendName,
  GoneCause as Cause,
  EventPhase,
  DeploymentPhase as Phase,
} from '../services/deployments/row.ts'
import { builder } from './builder.ts'

type Described<Name extends string> = Record<Name, { description: string }>

export const Backend = builder.enumType('Backend', {
  description: 'What runs a release.',
  values: {
    HELM: { description: 'A helm release beside a plan ConfigMap.' },
    LLMSERVICE: { description: 'An LLMService custom resource, run by the llm-operator.' },
  } satisfies Described<BackendName>,
})

const phases = {
  APPLYING: { description: 'Being installed or changed.' },
  APPLIED: { description: 'The last operation succeeded.' },
  FAILED: { description: 'The last operation failed, an uninstall too; `drift` says which.' },
  UNINSTALLING: { description: 'Being taken away; it stays listed until its last pod is gone.' },
  UNKNOWN: { description: 'The plan cannot be read or has no status; `phaseReason` says why.' },
} satisfies Described<Phase>

export const DeploymentPhase = builder.enumType('DeploymentPhase', {
  description: 'How a release stands. The list, the release and the event show one value, made in one place.',
  values: phases,
})

export const DeploymentEventPhase = builder.enumType('DeploymentEventPhase', {
  description: 'As DeploymentPhase, and GONE, which only an event can say.',
  values: {
    ...phases,
    GONE: { description: 'The release has left; `goneBecause` says why.' },
  } satisfies Described<EventPhase>,
})

export const GoneCause = builder.enumType('GoneCause', {
  description: 'Why a release has left.',
  values: {
    UNINSTALLED: { description: 'Its uninstall is over and nothing of it is left.' },
    PLAN_REMOVED: { description: 'Somebody deleted the plan of a release that was not being uninstalled.' },
    RECREATED: {
      description: 'Another object has taken its name; the new one comes as an event of its own.',
    },
  } satisfies Described<Cause>,
})
