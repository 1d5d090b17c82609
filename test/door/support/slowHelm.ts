import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from './until.ts'

/** One `helm uninstall` that was begun. */
export interface HelmCall {
  pid: number
  context: string
  args: string
}

/** A helm that can be told to wait before it does anything, and that writes down how it was called. */
export class SlowHelm {
  /** For `--helm-bin`. */
  readonly path: string
  readonly #dir: string

  /** @param helm the one that does the work */
  constructor(dir: string, helm: string) {
    this.#dir = dir
    mkdirSync(join(dir, 'calls'))
    this.path = join(dir, 'helm')
    const script = `#!/bin/sh
if [ "$1" = uninstall ]; then
  echo "$HELM_KUBECONTEXT|$*" > '${dir}'/calls/$$.tmp
  mv '${dir}'/calls/$$.tmp '${dir}'/calls/$$
  while [ -e '${dir}/hold' ]; do sleep 0.05; done
fi
exec '${helm}' "$@"
`
    writeFileSync(this.path, script, { mode: 0o755 })
  }

  /** From now on helm waits. */
  hold(): void {
    writeFileSync(join(this.#dir, 'hold'), '')
  }

  release(): void {
    rmSync(join(this.#dir, 'hold'), { force: true })
  }

  /** The uninstalls of one release that were begun, in no order. */
  calls(name: string): HelmCall[] {
    const folder = join(this.#dir, 'calls')
    if (!existsSync(folder)) return []
    return readdirSync(folder)
      .filter((file) => /^\d+$/.test(file))
      .map((file) => {
        const [context = '', args = ''] = readFileSync(join(folder, file), 'utf8').trim().split('|')
        return { pid: Number(file), context, args }
      })
      .filter(({ args }) => args.split(' ')[1] === name)
  }

  /** Waits until helm runs for a release. */
  called(name: string): Promise<HelmCall> {
    return until(`helm uninstall ${name}`, () => this.calls(name)[0])
  }
}
