// The API server's own log of all stories: what the gateways have asked for is what deploy/rbac gives them.
import assert from 'node:assert/strict'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { SYSTEM } from '../access.ts'
import { allowedBy } from '../rbac.ts'
import type { Story, StoryContext } from '../story.ts'

type Event = {
  stage: string
  verb: string
  /** Nobody's, where it was answered with 401. */
  user: { username?: string }
  userAgent?: string
  objectRef?: { resource: string; apiGroup?: string; subresource?: string }
  responseStatus?: { code: number }
}

export const rights: Story = { name: 'rights', last: true, run }

async function run({ sofar, note }: StoryContext): Promise<void> {
  const used = new Set<string>()
  for (const log of sofar.auditLogs) await collect(log, used)
  const allowed = allowedBy('swiss-cluster.yaml')
  const tooMuch = [...used].filter((right) => !allowed.has(right)).sort()
  const unused = [...allowed].filter((right) => !used.has(right)).sort()
  note(`${used.size} rights used of ${allowed.size}`)
  assert.deepEqual(tooMuch, [], 'asked for, and not in swiss-cluster.yaml')
  // A run of some stories, or one that failed, does not come by everything.
  if (sofar.wholeSuite && sofar.failed === 0) {
    assert.deepEqual(unused, [], 'in swiss-cluster.yaml, and asked for by no story')
  } else if (unused.length > 0) note(`not asked for this time: ${unused.join(', ')}`)
}

/** Adds what gateways have asked for, as `verb group/resource`. helm runs as the same user with another agent. */
async function collect(log: string, used: Set<string>): Promise<void> {
  for await (const line of createInterface({ input: createReadStream(log) })) {
    if (!line.includes('swiss-gateway/')) continue
    const { user, userAgent, objectRef, verb } = JSON.parse(line) as Event
    if (!user.username?.startsWith(`system:serviceaccount:${SYSTEM}:`)) continue
    if (!userAgent?.startsWith('swiss-gateway/') || objectRef === undefined) continue
    const { resource, subresource, apiGroup = '' } = objectRef
    used.add(`${verb} ${apiGroup}/${resource}${subresource ? `/${subresource}` : ''}`)
  }
}
