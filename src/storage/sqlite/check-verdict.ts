/** The first finding of SQLite's own check of a file; it heads what it finds in pages with the name of the database. */
export const firstFindingOf = (verdict: unknown): string =>
  String(verdict)
    .replace(/^\*\*\* in database .* \*\*\*\n/, '')
    .split('\n', 1)[0] ?? '';
