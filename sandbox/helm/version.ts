/** The helm this stand-in answers like. */
const buildInfo = {
  Version: 'v4.3.1',
  // No commit of helm's: this is not helm.
  GitCommit: '0000000000000000000000000000000000000000',
  GitTreeState: 'clean',
  GoVersion: 'go1.26.0',
  KubeClientVersion: 'v1.36',
}

export const userAgent = 'Helm/4.3.1 (sandbox)'

/** What `helm version` prints, without the line's end for a template, as helm does. */
export function versionText(options: { short: boolean; template: string | undefined }): string {
  if (options.template) {
    return options.template.replace(/\{\{-?\s*\.(\w+)\s*-?\}\}/g, (whole, field: string) =>
      field in buildInfo ? buildInfo[field as keyof typeof buildInfo] : whole,
    )
  }
  if (options.short) return `${buildInfo.Version}+g${buildInfo.GitCommit.slice(0, 7)}\n`
  const fields = Object.entries(buildInfo).map(([name, value]) => `${name}:"${value}"`)
  return `version.BuildInfo{${fields.join(', ')}}\n`
}
