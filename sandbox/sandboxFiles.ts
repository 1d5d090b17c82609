import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Name of the context, the cluster and the user in the kubeconfig. */
const contextName = 'swiss-sandbox'

/** What the sandbox leaves on the disk while it runs. */
export interface SandboxFiles {
  dir: string
  kubeconfig: string
  helm: string
  /** Takes away what was written, the folder too when it was made for this. */
  remove(): void
}

/**
 * Writes the kubeconfig (mode 0600) and the `helm` that goes with it into a folder of mode 0700.
 *
 * @param dir made when it is not there; a fresh one in the temporary folder when absent
 * Throws an Error with one sentence when the folder cannot be used, as when a kubeconfig in it is not a sandbox's.
 */
export function writeSandboxFiles(
  dir: string | undefined,
  access: { server: string; token: string; certificateAuthority: string; namespace: string },
): SandboxFiles {
  const folder = dir === undefined ? mkdtempSync(join(tmpdir(), 'swiss-sandbox-')) : resolve(dir)
  const made = dir === undefined || !existsSync(folder)
  const bin = join(folder, 'bin')
  const files = { dir: folder, kubeconfig: join(folder, 'kubeconfig'), helm: join(bin, 'helm') }
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    refuseForeign(files.kubeconfig)
    writeFileSync(files.kubeconfig, kubeconfigText(access), { mode: 0o600 })
    // The mode of a file that was there stays as it was.
    chmodSync(files.kubeconfig, 0o600)
    mkdirSync(bin, { recursive: true, mode: 0o700 })
    writeFileSync(files.helm, helmScript(), { mode: 0o700 })
    chmodSync(files.helm, 0o700)
  } catch (error) {
    throw new Error(`${folder} cannot be used for --dir: ${(error as Error).message}.`)
  }
  return {
    ...files,
    remove() {
      if (made) return rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
      for (const path of [files.kubeconfig, files.helm]) rmSync(path, { force: true })
      if (existsSync(bin) && readdirSync(bin).length === 0) rmdirSync(bin)
    },
  }
}

function refuseForeign(kubeconfig: string): void {
  if (!existsSync(kubeconfig)) return
  if (readFileSync(kubeconfig, 'utf8').includes(`current-context: ${contextName}\n`)) return
  throw new Error("it holds a kubeconfig that is not a sandbox's")
}

function kubeconfigText(access: Parameters<typeof writeSandboxFiles>[1]): string {
  return `apiVersion: v1
kind: Config
current-context: ${contextName}
clusters:
- name: ${contextName}
  cluster:
    server: ${access.server}
    certificate-authority-data: ${Buffer.from(access.certificateAuthority).toString('base64')}
contexts:
- name: ${contextName}
  context:
    cluster: ${contextName}
    user: ${contextName}
    namespace: ${access.namespace}
users:
- name: ${contextName}
  user:
    token: ${access.token}
`
}

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/**
 * A shell script that runs the helm stand-in with the Node that runs this.
 *
 * @param program path of the stand-in; the one beside this file when absent. Sources need a loader, which makes
 *   them slow to start.
 */
export function helmScript(program = ownHelm()): string {
  const loader = program.endsWith('.ts') ? ['--import', import.meta.resolve('tsx')] : []
  return `#!/bin/sh\nexec ${[process.execPath, ...loader, program].map(quoted).join(' ')} "$@"\n`
}

const ownHelm = () =>
  fileURLToPath(
    new URL(import.meta.url.endsWith('.ts') ? './helm/main.ts' : './helm/main.js', import.meta.url),
  )
