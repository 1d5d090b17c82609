/** The charts that the sandbox's helm knows, with the version that is the newest. */
const known: Record<string, string> = { sglang: '0.7.8', vllm: '0.4.6' }

const version = /^v?\d+(\.\d+){0,2}([-+][-.+0-9A-Za-z]+)?$/

/**
 * Finds a chart by its name, whatever the repository: `sglang` with a repo, `oci://…/sglang`, `repo/sglang`,
 * `./charts/sglang`, `sglang-0.7.1.tgz`. Throws an Error in helm's words for one that is not known.
 *
 * @param anyName take every name for a chart's
 */
export function locateChart(
  reference: string,
  wanted: { version: string | undefined; repo: string | undefined; anyName?: boolean },
): { name: string; version: string } {
  const path = reference.replace(/\/+$/, '')
  const [, base = '', packed] = /^(.*?)(?:-(\d[^/]*))?\.tgz$/.exec(path.slice(path.lastIndexOf('/') + 1)) ?? [
    '',
    path.slice(path.lastIndexOf('/') + 1),
  ]
  const newest = Object.hasOwn(known, base) ? known[base] : wanted.anyName ? '0.1.0' : undefined
  if (newest === undefined || base === '') throw new Error(notFound(reference, base, wanted))
  if (wanted.version !== undefined && !version.test(wanted.version)) {
    throw new Error(`improper constraint: ${wanted.version}`)
  }
  return { name: base, version: (wanted.version ?? packed ?? newest).replace(/^v(?=\d)/, '') }
}

function notFound(
  reference: string,
  name: string,
  { version: wanted, repo }: { version: string | undefined; repo: string | undefined },
): string {
  if (repo !== undefined) {
    const chart = wanted === undefined ? `chart "${name}"` : `chart "${name}" version "${wanted}"`
    return `${chart} not found in ${repo} repository`
  }
  if (reference.startsWith('oci://'))
    return `failed to perform "FetchReference" on source: ${reference}: not found`
  if (/^[^./][^/]*\/[^/]+$/.test(reference)) return `repo ${reference.split('/')[0]} not found`
  if (!reference.includes('/')) {
    return `non-absolute URLs should be in form of repo_name/path_to_chart, got: ${reference}`
  }
  return `path "${reference}" not found`
}
