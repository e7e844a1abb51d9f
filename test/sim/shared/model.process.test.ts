/** The model says what PostgreSQL says: the statements of a run, carried out there in the same order and at the same times. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Connection, Connections, Row, Statement } from '../../../src/storage/postgres/connections.ts';
import { SERVER, type TestDatabase, testDatabase } from '../../support/postgres-database.ts';
import { IS_WHOLE, partOf } from '../../support/whole.ts';
import { playSharedRun } from './run.ts';

/** Statements of names, which a whole run must have tried. */
const NAMED = [
  'claim-identifier',
  'find-identifier',
  'release-identifier',
  'read-answer',
  'replace-answer',
  'prune-identifiers',
  'count-identifiers',
  'free-stray-identifiers',
  'create-retry',
  'find-retry-by-key',
  'claim-retry-key',
  'release-retry-key',
  'take-retries',
  'change-retry',
];

interface Said {
  readonly statement: Statement;
  readonly rows: string;
  readonly atMs: number;
}

/** Statements without a meaning for tables, and those whose answers are of no account. */
const isLeftOut = ({ text, name }: Statement): boolean =>
  name === 'hint' ||
  name === 'schema-parts' ||
  /^(BEGIN|COMMIT|ROLLBACK|SET |LISTEN |SELECT (set_config|current_setting)\('paygrade\.session')/.test(text) ||
  /clock_timestamp|has_any/.test(text);

/** Bytes as text, and lists of ids, which have no order, sorted. */
const plainOf = (value: unknown): unknown => {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value.toSorted() : value;
};

/** The numbers of PostgreSQL's tables are its own. */
const isModelled = ([name]: readonly [string, unknown]): boolean => name !== 'claims' && name !== 'tables';

/** Rows in an order of their own, since most statements promise none. */
const textOf = (rows: readonly Row[]): string =>
  rows
    .map((row) =>
      Object.entries(row)
        .filter(isModelled)
        .map(([name, value]) => `${name}: ${JSON.stringify(plainOf(value))}`),
    )
    .map((columns) => columns.sort().join(', '))
    .sort()
    .join('\n');

describe.skipIf(SERVER === undefined)('the modelled database', () => {
  const clock = { atMs: 0, nowMs: () => clock.atMs, monotonicMs: () => clock.atMs };
  let database: TestDatabase;
  let connections: Connections;
  let connection: Connection;
  beforeAll(async () => {
    database = await testDatabase(SERVER as NonNullable<typeof SERVER>, clock);
    connections = database.connections();
    connection = await connections.connect();
    // The model's claims begin at 1, those of a new database at the time.
    await connection.query({ text: 'ALTER SEQUENCE paygrade.claims_serial_seq RESTART WITH 1', values: [] });
  });
  afterAll(async () => {
    connection.release(true);
    await connections.end();
    await database.remove();
  });

  it('answers every statement of a run as PostgreSQL does', async () => {
    const said: Said[] = [];
    const { violation } = await playSharedRun(56, {
      purchaseCount: partOf(250, 40),
      onDatabase: (model, nowMs) => {
        model.onExecuted = (statement, rows) => {
          if (!isLeftOut(statement)) said.push({ statement, rows: textOf(rows), atMs: nowMs() });
        };
      },
    });
    expect(violation).toBeUndefined();
    const names = new Set<string>();
    for (const { statement, rows, atMs } of said.slice(0, partOf(said.length, 800))) {
      clock.atMs = atMs;
      const { name, text, values } = statement;
      const answer = await connection.query({ text, values: values ?? [] });
      names.add(name ?? '');
      const what = `${name ?? text}, ${JSON.stringify(values)?.slice(0, 500)}`;
      expect(`${what}\n${textOf(answer.rows)}`).toBe(`${what}\n${rows}`);
    }
    console.log(`${partOf(said.length, 800)} statements of ${names.size} kinds`);
    expect(names.size).toBeGreaterThan(20);
    if (IS_WHOLE) expect([...names]).toEqual(expect.arrayContaining(NAMED));
  }, 300_000);
});
