import { crash } from './stories/crash.ts'
import { uninstall } from './stories/uninstall.ts'
import type { Story } from './story.ts'

/** All of them, in the order in which they begin: the long ones first, since several are told at once. */
export const STORIES: readonly Story[] = [crash, uninstall]
