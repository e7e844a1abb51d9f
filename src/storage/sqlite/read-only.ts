/** Opens the state file for reading, also while a server writes it: with its log, each reader sees whole commits. */
import { DatabaseSync } from 'node:sqlite';
import { Connection } from './connection.ts';
import { BUSY_MS, problemOfFile } from './database.ts';

/** @throws Error with one line, when it is not a state file of this format; Error of node:sqlite when it cannot be read */
export function openReadOnly(path: string): Connection {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    const problem = problemOfFile(database);
    if (problem !== undefined) throw new Error(`${path}: ${problem}`);
  } catch (failure) {
    database.close();
    throw failure;
  }
  return new Connection(database);
}
