/**
 * A path of keys in one text, as helm's `--set` has it: keys with dots between them, and a backslash before a
 * dot or backslash that belongs to a key (`nodeSelector.kubernetes\.io/arch`).
 */
export const valuePath = (keys: readonly string[]): string =>
  keys.map((key) => key.replace(/[\\.]/g, '\\$&')).join('.')
