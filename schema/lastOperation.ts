import type { LastOperation as LastOperationFacts } from '../services/deployments/row.ts'
import { builder } from './builder.ts'
import { RunAction, RunOutcome } from './run.ts'

export const LastOperation = builder.objectRef<LastOperationFacts>('LastOperation').implement({
  description:
    'The last operation on a release, as its `status.yaml` or its LLMService says: there also when the audit log is not.',
  fields: (t) => ({
    action: t.expose('action', { type: RunAction, description: 'What was done.' }),
    outcome: t.expose('outcome', { type: RunOutcome, description: 'What has become of it.' }),
    error: t.exposeString('error', { nullable: true, description: 'What went wrong; bounded text.' }),
    at: t.expose('at', { type: 'DateTime', nullable: true, description: 'When that was written.' }),
    actor: t.exposeString('actor', {
      nullable: true,
      description: 'Name of the caller; null when it is not known, as with an LLMService.',
    }),
  }),
})
