/**
 * Whether a disk that was full has room again (reliability 266). Statements that need little succeed long before, such as the renewal
 * of a lease, so the database's probe does not show it.
 */
import type { Statement } from './connections.ts';
import { AttemptError, isTooMuch } from './failures.ts';

/** Puts some two megabytes on the disk that has the tables, unless they were spread over several: a file that ends with this. */
const ROOM: Statement = {
  text: `BEGIN; SET LOCAL work_mem = '64kB'; SET LOCAL temp_tablespaces = '';
    SELECT count(*) FROM generate_series(1, 100000); COMMIT`,
};

/** Resolves when there is room, or where the server allows no such file and so cannot be asked. @throws AttemptError */
export async function findRoom(attempt: (statement: Statement) => Promise<unknown>): Promise<void> {
  try {
    await attempt(ROOM);
  } catch (failure) {
    if (!(failure instanceof AttemptError && isTooMuch(failure.error.cause))) throw failure;
  }
}
