// Adds up what a part's output says of itself: vitest's `Tests` line, and lines `N passed, N failed, N skipped`.
let text = ''
for await (const chunk of process.stdin) text += chunk
const sum = { passed: 0, failed: 0, skipped: 0 }
for (const line of text.split('\n')) {
  const isVitest = /^\s*Tests\s/.test(line)
  if (!isVitest && !/^(\w+: )?\d+ passed, \d+ failed(, \d+ skipped)?\s*$/.test(line)) continue
  for (const [, count, what] of line.matchAll(/(\d+) (passed|failed|skipped|todo)/g)) {
    sum[what === 'todo' ? 'skipped' : what] += Number(count)
  }
}
console.log(sum.passed, sum.failed, sum.skipped)
