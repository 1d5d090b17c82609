/** Ends the command with exit code 1 and `Error: <message>` on stderr. */
export class HelmError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'HelmError'
  }
}

export const releaseNotFound = 'release: not found'
