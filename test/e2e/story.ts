import type { ControlPlane } from './controlPlane.ts'
import type { Processes } from './processes.ts'
import type { Tools } from './tools.ts'

export type StoryContext = {
  cluster: ControlPlane
  processes: Processes
  tools: Tools
  /** A namespace that is the story's own. */
  namespace: string
  /** Says what was seen: it stands under the story's line. */
  note: (line: string) => void
}

/** Throws when it does not hold. What it has started through `processes` is stopped for it. */
export type Story = (context: StoryContext) => Promise<void>
