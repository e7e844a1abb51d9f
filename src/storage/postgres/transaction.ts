/** A transaction on one connection. */
import type { Connection, Row, Statement } from './connections.ts';
import { AttemptError, type Stage } from './failures.ts';

/** Runs the statements of a transaction in turn. */
export type Query = (statement: Statement) => Promise<readonly Row[]>;

const BEGIN: Statement = { text: 'BEGIN' };
const COMMIT: Statement = { text: 'COMMIT' };
const ROLLBACK: Statement = { text: 'ROLLBACK' };

/**
 * Commits what `work` does, or rolls it back when that fails, and releases the connection.
 * @param send sends a statement on the connection; throws AttemptError
 */
export async function inTransaction<T>(
  connection: Connection,
  send: (statement: Statement, stage: Stage) => ReturnType<Query>,
  work: (query: Query) => Promise<T>,
): Promise<T> {
  let isCommitting = false;
  let isBroken = true;
  const query: Query = (statement) => send(statement, isCommitting ? 'sent' : 'uncommitted');
  try {
    await query(BEGIN);
    const result = await work(query);
    isCommitting = true;
    await query(COMMIT);
    isBroken = false;
    return result;
  } catch (failure) {
    // A ROLLBACK would wait behind an unanswered statement; closing the connection rolls back too.
    if (!isCommitting && !(failure instanceof AttemptError && failure.kind === 'away')) {
      isBroken = await connection.query(ROLLBACK).then(
        () => false,
        () => true,
      );
    }
    throw failure;
  } finally {
    connection.release(isBroken);
  }
}
