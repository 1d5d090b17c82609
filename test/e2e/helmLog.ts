// A helm that writes down when it begins and ends, and is the real one otherwise.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { StoryContext } from './story.ts'

export type HelmCall = { args: string; began: number; ended: number | null; exit: number | null }

export class HelmLog {
  /** For `--helm-bin`. */
  readonly path: string
  readonly #log: string

  /** Each of a story's has a name of its own. */
  constructor({ dir, helmBin }: StoryContext, name = 'helm') {
    this.path = join(dir, `${name}-logged`)
    this.#log = join(dir, `${name}-calls`)
    writeFileSync(this.#log, '')
    const script = [
      '#!/bin/sh',
      `case "$1" in version) exec '${helmBin}' "$@";; esac`,
      `echo "begin $$ $(date +%s%N) $*" >> '${this.#log}'`,
      `'${helmBin}' "$@"`,
      'code=$?',
      `echo "end $$ $(date +%s%N) $code" >> '${this.#log}'`,
      'exit $code',
      '',
    ]
    writeFileSync(this.path, script.join('\n'), { mode: 0o755 })
  }

  /** Those of one release's uninstall, oldest first; `ended` is null for one that was killed or still runs. */
  uninstalls(name: string): HelmCall[] {
    const calls = new Map<string, HelmCall>()
    for (const line of readFileSync(this.#log, 'utf8').split('\n')) {
      const [what, pid = '', at, ...rest] = line.split(' ')
      const ms = Number(at) / 1e6
      if (what === 'begin') calls.set(pid, { args: rest.join(' '), began: ms, ended: null, exit: null })
      const call = calls.get(pid)
      if (what === 'end' && call !== undefined) Object.assign(call, { ended: ms, exit: Number(rest[0]) })
    }
    return [...calls.values()].filter((call) => call.args.startsWith(`uninstall ${name} `))
  }
}
