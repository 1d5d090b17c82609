import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'

interface ProcessInfo {
  pid: number
  parent: number
  /** Ended, but nobody has asked how: it runs no more. */
  zombie: boolean
  command: string
}

/** All processes of this machine. */
function allProcesses(): ProcessInfo[] {
  return existsSync('/proc/self/stat') ? fromProc() : fromPs()
}

function fromProc(): ProcessInfo[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
        // The name of the program stands in brackets and may have brackets and blanks in it.
        const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
        return [{ pid: Number(name), parent: Number(parent), zombie: 'ZX'.includes(state), command }]
      } catch {
        // It has ended while we were reading.
        return []
      }
    })
}

function fromPs(): ProcessInfo[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,args='], { encoding: 'utf8' }).split('\n')
  return lines.flatMap((line) => {
    const [, pid, parent, state = '', command = ''] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s*(.*)$/.exec(line) ?? []
    return pid ? [{ pid: Number(pid), parent: Number(parent), zombie: state.startsWith('Z'), command }] : []
  })
}

/** Whether a process of this id runs. */
export function isAlive(pid: number): boolean {
  return allProcesses().some((one) => one.pid === pid && !one.zombie)
}

/** The children of a process, their children, and so on. */
export function descendantsOf(pid: number): { pid: number; command: string }[] {
  const all = allProcesses().filter(({ zombie }) => !zombie)
  const below = (parents: number[]): ProcessInfo[] => {
    const children = all.filter(({ parent }) => parents.includes(parent))
    return children.length === 0 ? [] : [...children, ...below(children.map((one) => one.pid))]
  }
  return below([pid])
}
