import type { Subject } from '../probe.ts'
import { access } from './access.ts'
import { configMaps } from './configMaps.ts'
import { creating } from './creating.ts'
import { customKinds } from './customKinds.ts'
import { deleting } from './deleting.ts'
import { discovery } from './discovery.ts'
import { leases } from './leases.ts'
import { lists } from './lists.ts'
import { namespaces } from './namespaces.ts'
import { patching } from './patching.ts'
import { pods } from './pods.ts'
import { reading } from './reading.ts'
import { selectors } from './selectors.ts'
import { updating } from './updating.ts'
import { watches } from './watches.ts'

export const subjects: Subject[] = [
  // First: it waits for the controller that deletes the namespaces of all the others, one after the other.
  namespaces,
  reading,
  lists,
  selectors,
  watches,
  creating,
  updating,
  patching,
  deleting,
  pods,
  configMaps,
  leases,
  customKinds,
  access,
  discovery,
]
