import { load } from './load/load.ts'
import { apiServer } from './stories/apiServer.ts'
import { charts } from './stories/charts.ts'
import { compaction } from './stories/compaction.ts'
import { crash } from './stories/crash.ts'
import { crd } from './stories/crd.ts'
import { helmFails } from './stories/helmFails.ts'
import { llmService } from './stories/llmService.ts'
import { namespaceDeleted } from './stories/namespaceDeleted.ts'
import { nodeLost } from './stories/nodeLost.ts'
import { replicas } from './stories/replicas.ts'
import { rights } from './stories/rights.ts'
import { serviceUpgrade } from './stories/serviceUpgrade.ts'
import { token } from './stories/token.ts'
import { uninstall } from './stories/uninstall.ts'
import { upgrade } from './stories/upgrade.ts'
import { values } from './stories/values.ts'
import type { Story } from './story.ts'

/** All of them, in the order in which they begin: the long ones first, since several are told at once. */
export const STORIES: readonly Story[] = [
  crash,
  apiServer,
  nodeLost,
  upgrade,
  serviceUpgrade,
  crd,
  llmService,
  replicas,
  token,
  compaction,
  namespaceDeleted,
  helmFails,
  uninstall,
  values,
  load,
  charts,
  rights,
]
