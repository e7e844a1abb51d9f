/** Which tables a process has entered, over a database whose answers a test holds back. */
import { describe, expect, it } from 'vitest';
import type { Row, Statement } from '../../../src/storage/postgres/connections.ts';
import type { Database } from '../../../src/storage/postgres/database.ts';
import { DatabaseAwayError } from '../../../src/storage/postgres/failures.ts';
import { Identity } from '../../../src/storage/postgres/identity.ts';
import type { Query } from '../../../src/storage/postgres/transaction.ts';
import { ManualTime, settle } from '../../support/manual-time.ts';

const USED_BEFORE_SECONDS = 7;
const CANCELLED = new DatabaseAwayError('the statement was cancelled');
const rowOf = (tables: string): Row[] => [{ tables, used_before_seconds: USED_BEFORE_SECONDS, claims: 1 }];

/**
 * @param reads what each read of the tables gives, once they are entered
 * @param faults why the database cannot be used, from one failure to the next
 * @param refusals why its tables were refused; undefined = they are not any more
 */
function opening(
  reads: (Row[] | Promise<Row[]>)[],
  faults: (string | undefined)[] = [],
  refusals: (string | undefined)[] = [],
) {
  const query = async ({ text }: Statement) => (text.includes('INTO paygrade.identity') ? [] : (reads.shift() ?? []));
  const database = {
    checkEach() {},
    fault: () => faults.shift(),
    refuse: (why: string | undefined) => void refusals.push(why),
    transaction: (work: (query: Query) => Promise<Row[]>) => work(query),
  } as unknown as Database;
  return Identity.open(database, {
    clock: new ManualTime(),
    async check() {},
    onNotice() {},
  });
}

describe('tables that took the place of others', () => {
  it('are not entered by an answer that was on its way when they were seen', async () => {
    const { promise, resolve } = Promise.withResolvers<Row[]>();
    const identity = await opening([rowOf('first'), promise, rowOf('third')]);
    expect(identity.usedBeforeSeconds).toBe(USED_BEFORE_SECONDS);
    identity.saw('second');
    await settle();
    identity.saw('third');
    resolve(rowOf('second'));
    await settle();
    expect(identity.usedBeforeSeconds).toBe(Number.POSITIVE_INFINITY);
    identity.saw('third');
    await settle();
    expect(identity.usedBeforeSeconds).toBe(USED_BEFORE_SECONDS);
  });

  it('that a process cannot enter are refused, unless the database is away, until they are entered', async () => {
    const refusals: (string | undefined)[] = [];
    const failed = async (): Promise<Row[]> => {
      throw CANCELLED;
    };
    const reads: (Row[] | Promise<Row[]>)[] = [rowOf('first')];
    const identity = await opening(reads, ['away', undefined], refusals);
    const refusal = expect.stringMatching(/^the tables .* cannot be used: the statement was cancelled$/);
    for (const expected of [[], [refusal]]) {
      reads.push(failed());
      identity.saw('second');
      await settle();
      expect(refusals).toEqual(expected);
    }
    expect(identity.usedBeforeSeconds).toBe(Number.POSITIVE_INFINITY);
    reads.push(rowOf('second'));
    identity.saw('second');
    await settle();
    expect(refusals).toEqual([refusal, undefined]);
  });

  it('before they were read are entered at the next renewal, or at the next start', async () => {
    const identity = await opening([rowOf('first'), [], rowOf('second')]);
    for (const expected of [Number.POSITIVE_INFINITY, USED_BEFORE_SECONDS]) {
      identity.saw('second');
      await settle();
      expect(identity.usedBeforeSeconds).toBe(expected);
    }
    await expect(opening([[]])).rejects.toBeInstanceOf(DatabaseAwayError);
  });
});
