import type {
  CanaryParent as ParentFacts,
  CanaryRelationship as RelationshipFacts,
  CanaryState as StateName,
} from '../services/canary/relationship.ts'
import { builder } from './builder.ts'

export const CanaryState = builder.enumType('CanaryState', {
  description: 'What a service is to a canary.',
  values: {
    STANDALONE: { description: 'No canary has to do with it.' },
    REFERENCED: { description: 'It existed before and is assigned to a canary.' },
    OWNED: { description: 'A canary made it. Wins over an assignment.' },
  } satisfies Record<StateName, { description: string }>,
})

const CanaryParent = builder.objectRef<ParentFacts>('CanaryParent').implement({
  description: 'Identity of a canary, as the metadata of the service says it; what it does not say is null.',
  fields: (t) => ({
    apiVersion: t.exposeString('apiVersion', { nullable: true, description: 'API version of the canary.' }),
    kind: t.exposeString('kind', { nullable: true, description: 'Kind of the canary.' }),
    namespace: t.exposeString('namespace', { nullable: true, description: 'Namespace of the canary.' }),
    name: t.exposeString('name', { nullable: true, description: 'Name of the canary.' }),
    uid: t.exposeID('uid', { nullable: true, description: 'uid of the canary.' }),
    role: t.exposeString('role', { nullable: true, description: 'Role of the service in the canary.' }),
  }),
})

export const CanaryRelationship = builder.objectRef<RelationshipFacts>('CanaryRelationship').implement({
  description:
    'Whom an LLMService belongs to in a canary, read from its metadata only. Swiss refuses nothing because of it.',
  fields: (t) => ({
    state: t.expose('state', { type: CanaryState, description: 'What it is to a canary.' }),
    verified: t.exposeBoolean('verified', {
      description: 'True only when the metadata is complete and consistent.',
    }),
    serviceUid: t.exposeID('serviceUid', { description: 'uid of the LLMService itself.' }),
    managedBy: t.expose('managedBy', {
      type: CanaryParent,
      nullable: true,
      description: 'The canary that made it; only when OWNED.',
    }),
    assignedTo: t.expose('assignedTo', {
      type: CanaryParent,
      nullable: true,
      description: 'The canary it is assigned to; only when REFERENCED.',
    }),
    problems: t.exposeStringList('problems', {
      description: 'What is missing, malformed or contradictory in the metadata, one sentence each.',
    }),
  }),
})
