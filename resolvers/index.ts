/** The schema as a whole: every type of `schema/`, and the fields that ask a service. */
import type { GraphQLSchema } from 'graphql'
import { builder } from '../schema/builder.ts'
import '../schema/scalars.ts'
// In reading order: root fields are printed, and shown by GraphiQL, in the order in which they are made.
import './deployments.ts'
import './deployment.ts'
import './release.ts'
import './releaseOfDeployment.ts'
import './chartOfHelmRelease.ts'
import './revisionsOfRelease.ts'
import './runsOfRelease.ts'
import './runs.ts'
import './run.ts'
import './cluster.ts'
import './viewer.ts'
import './node.ts'
import './uninstallRelease.ts'
import './deploymentPhaseChanged.ts'
import './deploymentChanged.ts'
import './deletionProgressed.ts'

export const schema: GraphQLSchema = builder.toSchema({ sortSchema: false })
