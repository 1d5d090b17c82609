import { z } from 'zod'
import type { DeploymentFilter } from '../services/deployments/listing.ts'
import type { Backend, CanaryState, DeploymentPhase } from '../services/deployments/row.ts'
import { listOf, namespaceName, optional, text } from './input.ts'

/** The filter as the services take it: null is as good as left out, and so is a filter that says nothing. */
export const deploymentFilter = z
  .object({
    search: optional(text),
    namespaces: listOf(namespaceName),
    // Enums were checked by GraphQL.
    phases: listOf(z.custom<DeploymentPhase>()),
    backends: listOf(z.custom<Backend>()),
    canaryStates: listOf(z.custom<CanaryState>()),
    models: listOf(text),
    engines: listOf(text),
    drifted: optional(z.boolean()),
    uninstallingBefore: optional(z.string()),
  })
  .nullish()
  .transform((filter): DeploymentFilter | undefined =>
    filter && Object.values(filter).some((part) => part !== undefined) ? filter : undefined,
  )
