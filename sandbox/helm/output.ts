import type { HelmRelease } from './payload.ts'

/** Columns padded to their widest cell and parted by tabs, as helm's tables are. */
export function table(rows: string[][]): string {
  const widths: number[] = []
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length)
  }
  return rows
    .map((row) => `${row.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('\t')}\n`)
    .join('')
}

const days = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const two = (value: number) => String(value).padStart(2, '0')

/** RFC 3339 as Go's ANSIC layout in UTC: `Mon Nov 30 18:36:24 2026`. */
export function ansicTime(time: string): string {
  const at = new Date(time)
  const clock = [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()].map(two).join(':')
  const day = String(at.getUTCDate()).padStart(2, ' ')
  return `${days[at.getUTCDay()]} ${months[at.getUTCMonth()]} ${day} ${clock} ${at.getUTCFullYear()}`
}

/** RFC 3339 as Go prints a time: `2026-11-30 18:36:24.744969056 +0000 UTC`. */
export function goTime(time: string): string {
  const match = /^(\S+)T([^Z]+)Z$/.exec(time)
  return match ? `${match[1]} ${match[2]} +0000 UTC` : time
}

/** `name-version` and the app's version, `MISSING` where the record has no chart. */
export function chartNames({ chart }: HelmRelease): { chart: string; appVersion: string } {
  if (!chart?.metadata) return { chart: 'MISSING', appVersion: 'MISSING' }
  return {
    chart: `${chart.metadata.name}-${chart.metadata.version}`,
    appVersion: chart.metadata.appVersion ?? '',
  }
}
