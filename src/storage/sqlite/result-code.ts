/** The primary result codes of SQLite that this server tells apart (sqlite.org/rescode.html). */
export const BUSY = 5;
export const LOCKED = 6;
export const READ_ONLY = 8;
export const CORRUPT = 11;
export const FULL = 13;
export const CANNOT_OPEN = 14;
export const NOT_A_DATABASE = 26;

/** An extended code of READ_ONLY: the file is no longer where it was opened. */
export const READ_ONLY_MOVED = 1032;

/** The extended result code of a failure of node:sqlite; undefined for any other. */
export function extendedCodeOf(failure: unknown): number | undefined {
  const { errcode } = (failure ?? {}) as { errcode?: unknown };
  return typeof errcode === 'number' ? errcode : undefined;
}

/** The primary result code of a failure of node:sqlite; undefined for any other. */
export function resultCodeOf(failure: unknown): number | undefined {
  const extended = extendedCodeOf(failure);
  return extended === undefined ? undefined : extended & 0xff;
}
