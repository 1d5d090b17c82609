/** A helm that writes down when it begins and ends, and whether another one runs for the same release meanwhile. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Writes the wrapper into `dir`. It takes up to a second before it lets the real one begin, so that kills find it at work. */
export function loggingHelm(dir: string, real: string): { helm: string; log: string } {
  const helm = join(dir, 'helm-with-a-log')
  const log = join(dir, 'helm.log')
  writeFileSync(
    helm,
    `#!/bin/sh
[ "$1" = uninstall ] || exec ${quote(real)} "$@"
log=${quote(log)}
# Whoever began for this release, did not end, and lives: that must never be.
begun=$(sed -n "s/^begin \\([0-9]*\\) $2$/\\1/p" "$log" 2>/dev/null)
for pid in $begun; do
  grep -q "^end $pid $2" "$log" || { kill -0 "$pid" 2>/dev/null && echo "overlap $pid $$ $2" >> "$log"; }
done
echo "begin $$ $2" >> "$log"
sleep 0.$(( $$ % 10 ))
${quote(real)} "$@"
code=$?
echo "end $$ $2 $code" >> "$log"
exit $code
`,
  )
  chmodSync(helm, 0o755)
  return { helm, log }
}

export interface HelmRecord {
  begun: number
  /** Runs that ended by themselves. */
  ended: number
  overlaps: string[]
  /** pids that began, did not end, and are still alive. */
  alive: number[]
}

export function readHelmLog(log: string): HelmRecord {
  const lines = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []
  const of = (word: string) =>
    lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.split(' '))
  const ended = new Set(of('end').map(([, pid]) => pid))
  const alive = of('begin')
    .map(([, pid]) => pid ?? '')
    .filter((pid) => !ended.has(pid) && isAlive(Number(pid)))
    .map(Number)
  return {
    begun: of('begin').length,
    ended: ended.size,
    overlaps: of('overlap').map((words) => words.join(' ')),
    alive,
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
