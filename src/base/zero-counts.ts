/** A count of 0 for each kind. */
export const zeroCounts = <Kind extends string>(kinds: readonly Kind[]): Record<Kind, number> =>
  Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>;
