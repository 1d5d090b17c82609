import type { LeftBehind } from '../deployments/row.ts'

const HEADER = 'These resources were kept due to the resource policy:'

/** Objects that helm says it has kept (`helm.sh/resource-policy: keep`), from what `helm uninstall` prints. */
export function keptByHelm(stdout: string): LeftBehind[] {
  const lines = stdout.split('\n')
  const start = lines.findIndex((line) => line.trim() === HEADER)
  if (start < 0) return []
  const kept: LeftBehind[] = []
  for (const line of lines.slice(start + 1)) {
    const [, kind, name] = /^\[(\w+)\] (\S+)/.exec(line.trim()) ?? []
    if (!kind || !name) break
    kept.push({ kind, name, reason: 'helm keeps it because of its resource policy' })
  }
  return kept
}
