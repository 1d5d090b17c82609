/** npm run package: the packed project, installed into an empty folder as a stranger would, runs. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { tryOut } from './trial.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'swiss-package-'))
const npm = (cwd: string, ...args: string[]): string =>
  execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })

let failed = 0
try {
  const [packed] = JSON.parse(npm(ROOT, 'pack', '--silent', '--json', '--pack-destination', folder)) as [
    { filename: string; files: { path: string }[] },
  ]
  const paths = packed.files.map(({ path }) => path)
  const stray = paths.filter(
    (path) =>
      !/^(dist\/.*\.js|deploy\/rbac\/.*\.yaml|[A-Z]+(\.md)?|package\.json|node_modules\/.+|schema\.graphql)$/.test(
        path,
      ),
  )
  if (stray.length > 0)
    throw new Error(`the package holds what nobody needs: ${stray.slice(0, 5).join(', ')}`)
  const tarball = join(folder, packed.filename)
  console.log(`${packed.filename}: ${paths.length} files, ${Math.round(statSync(tarball).size / 1024)} KiB`)
  writeFileSync(join(folder, 'package.json'), '{"private": true}\n')
  npm(folder, 'install', '--no-audit', '--no-fund', '--prefer-offline', tarball)
  const rows = await tryOut(['npx', '--no-install', 'swiss-gateway', 'sandbox', '--port', '0'], {
    cwd: folder,
  })
  console.log(`npx swiss-gateway sandbox: ${rows} releases`)
} catch (error) {
  console.log(error instanceof Error ? error.message : error)
  failed = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(`package: ${1 - failed} passed, ${failed} failed, 0 skipped`)
process.exitCode = failed
