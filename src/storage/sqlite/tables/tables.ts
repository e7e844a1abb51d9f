/** The one list of the tables of a state file. */
import type { Connection } from '../connection.ts';
import { accounts } from './accounts.ts';
import { answers } from './answers.ts';
import { callbacks } from './callbacks.ts';
import { payments } from './payments.ts';
import { probe } from './probe.ts';
import { resolves } from './resolves.ts';
import { retries } from './retries.ts';
import { sales } from './sales.ts';
import type { Operation, Query, Table } from './table.ts';

/** In the order in which the schemas run. */
const TABLES: readonly Table[] = [payments, answers, sales, callbacks, accounts, retries, resolves, probe];

export const SCHEMA: string = TABLES.map(({ schema }) => schema).join('');

const byName: ReadonlyMap<string, Table> = new Map(TABLES.map((table) => [table.name, table]));

/** @throws Error for a name that is not on the list: a bug in the caller */
export function tableOf({ table: name }: Operation | Query): Table {
  const table = byName.get(name);
  if (table === undefined) throw new Error(`there is no table ${name}`);
  return table;
}

/** Answers a query. @throws DamagedError; Error for a table without queries */
export function answerTo(connection: Connection, query: Query): unknown {
  const table = tableOf(query);
  if (table.read === undefined) throw new Error(`nothing reads ${table.name}`);
  return table.read(connection, query);
}
