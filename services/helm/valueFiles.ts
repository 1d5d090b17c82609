/** The value layers of one helm run as files: they may hold secrets, so nobody else can read them, and they do not stay. */
import { lstat, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ValueLayer } from './upgrade.ts'

export interface ValueFiles {
  folder: string
  /** In the order of the layers. */
  paths: string[]
  /** Never rejects: what cannot be removed is looked for again by the next process. */
  remove(): Promise<void>
}

const PREFIX = 'swiss-values-'
/** Folders of this very process: one of its pid that is not among them is an earlier process's (in a container all have pid 1). */
const own = new Set<string>()

/** Writes `1-catalog.yaml`, `2-site.yaml` … into a new folder of this process's own. Rejects with the system's error. */
export async function writeValueFiles(tempDir: string, layers: readonly ValueLayer[]): Promise<ValueFiles> {
  // Only this user may enter it (0700); its name tells whose it is, so that the next process can clean up.
  const folder = await mkdtemp(join(tempDir, `${PREFIX}${process.pid}-`))
  own.add(folder)
  const remove = async () => {
    await rm(folder, { recursive: true, force: true }).catch(() => undefined)
    own.delete(folder)
  }
  try {
    const paths = layers.map(({ name }, index) => join(folder, `${index + 1}-${name}.yaml`))
    await Promise.all(
      layers.map(({ text }, index) => writeFile(paths[index] as string, text, { mode: 0o600, flag: 'wx' })),
    )
    return { folder, paths, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/**
 * Removes what processes that are dead have left: a supervisor does that too, but one that was killed with its
 * gateway cannot. Never rejects.
 */
export async function removeStale(tempDir: string): Promise<void> {
  const names = await readdir(tempDir).catch(() => [])
  for (const name of names) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1]
    const path = join(tempDir, name)
    if (pid === undefined || own.has(path)) continue
    if (Number(pid) !== process.pid && isAlive(Number(pid))) continue
    const found = await lstat(path).catch(() => null)
    // Anybody may make such a name in a folder that all share.
    if (!found?.isDirectory() || found.uid !== process.getuid?.()) continue
    await rm(path, { recursive: true, force: true }).catch(() => undefined)
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
