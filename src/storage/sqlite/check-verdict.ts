/**
 * The first finding of SQLite's check of a file. SQLite puts a line with the database's name before findings in pages.
 */
export const firstFindingOf = (verdict: unknown): string =>
  String(verdict)
    .replace(/^\*\*\* in database .* \*\*\*\n/, '')
    .split('\n', 1)[0] ?? '';
