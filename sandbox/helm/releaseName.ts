const validName = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

/** helm's rule for names of releases. */
export const isReleaseName = (name: string) => name.length <= 53 && validName.test(name)
