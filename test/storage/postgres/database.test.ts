/** Statements that fail, over connections whose answers a test gives. */
import { describe, expect, it } from 'vitest';
import type { Connections, Row } from '../../../src/storage/postgres/connections.ts';
import { Database, PATIENCE_MS } from '../../../src/storage/postgres/database.ts';
import {
  ContentionError,
  DatabaseAwayError,
  InDoubtError,
  LackError,
  StatementError,
} from '../../../src/storage/postgres/failures.ts';
import { Identifiers } from '../../../src/storage/postgres/identifiers.ts';
import { ManualTime, settle } from '../../support/manual-time.ts';

const ofServer = (code: string): Error => Object.assign(new Error(`SQLSTATE ${code}`), { code, severity: 'ERROR' });
const DEADLOCK = ofServer('40P01');
const REFUSED = ofServer('23505');
const CANCELLED = ofServer('57014');
const LOST = Object.assign(new Error('the connection is gone'), { code: 'ECONNRESET' });
const NO_CONNECTION = Object.assign(new Error('nobody listens'), { code: 'ECONNREFUSED' });
const ROWS: Row[] = [{ one: 1 }];
const STATEMENT = { text: 'statement' };

/** Finds what a test says. */
const watchOf = () => {
  const watch = {
    now: undefined as string | undefined,
    fault: undefined as string | undefined,
    async look(): Promise<void> {
      watch.fault = watch.now;
    },
  };
  return watch;
};

type Answer = Row[] | Error | Promise<Row[]>;

function opened() {
  const time = new ManualTime();
  const answers: Answer[] = [];
  /** What the next tries to connect come to; undefined = a connection. */
  const connects: (Error | undefined)[] = [];
  const sent: string[] = [];
  const broken: boolean[] = [];
  const faults: (string | undefined)[] = [];
  /** How long each statement takes. */
  const trip = { ms: 0 };
  const connections: Connections = {
    async connect() {
      const failure = connects.shift();
      if (failure !== undefined) throw failure;
      return {
        async query({ text }) {
          sent.push(text);
          time.pass(trip.ms);
          const answer = await (answers.shift() ?? ROWS);
          if (answer instanceof Error) throw answer;
          return { rows: answer, rowCount: answer.length };
        },
        on() {},
        release: (isBroken) => void broken.push(isBroken),
      };
    },
    async end() {},
  };
  const database = new Database(connections, {
    clock: time,
    timers: time,
    onStateFault: (fault) => void faults.push(fault),
  });
  /** How often a statement was sent by then. */
  const sentAfter = async (ms: number): Promise<number> => {
    time.pass(ms);
    await settle();
    return sent.length;
  };
  const away = async (): Promise<void> => {
    connects.push(...Array<Error>(100).fill(NO_CONNECTION));
    const failed = expect(database.run(STATEMENT)).rejects.toBeInstanceOf(DatabaseAwayError);
    for (let passedMs = 0; passedMs <= PATIENCE_MS; passedMs += 50) await sentAfter(50);
    await failed;
  };
  return { ...{ time, database, answers, connects, sent, broken, faults, trip }, sentAfter, away };
}

describe('a statement', () => {
  it('that meets a deadlock is repeated at once, twenty times at most', async () => {
    const { answers, broken, database } = opened();
    answers.push(...Array<Error>(20).fill(DEADLOCK));
    expect(await database.run(STATEMENT)).toEqual(ROWS);
    expect(database.statementCount).toBe(21);
    answers.push(...Array<Error>(21).fill(DEADLOCK));
    await expect(database.run(STATEMENT)).rejects.toBeInstanceOf(ContentionError);
    expect([answers, broken.at(-1), database.fault()]).toEqual([[], true, undefined]);
  });

  it('whose answer is lost is repeated at once, and then after a pause; before each repeat it says so', async () => {
    const { answers, broken, database, faults, sent, sentAfter } = opened();
    answers.push(LOST, LOST);
    let doubtCount = 0;
    const running = database.run(STATEMENT, { onDoubt: () => doubtCount++ });
    await settle();
    expect([sent.length, doubtCount]).toEqual([2, 2]);
    expect(faults).toEqual([expect.stringContaining('the connection is gone')]);
    expect(await sentAfter(49)).toBe(2);
    expect(await sentAfter(1)).toBe(3);
    expect(await running).toEqual(ROWS);
    expect([broken, doubtCount, faults.at(-1)]).toEqual([[true, true, false], 2, undefined]);
  });

  it('that claims an identifier says so too, because the claim may be made late', async () => {
    const { answers, database, time } = opened();
    answers.push(LOST);
    let doubtCount = 0;
    const identifiers = new Identifiers(database, time, 'one', () => doubtCount++);
    expect(await identifiers.claim([{ digest: 'digest', fingerprint: 'same' }], 1)).toBe(true);
    expect(doubtCount).toBe(1);
  });

  it('is repeated after pauses that grow', async () => {
    const { answers, database, faults, sentAfter } = opened();
    answers.push(...Array<Error>(6).fill(CANCELLED));
    const running = database.run(STATEMENT);
    await settle();
    for (const [index, pauseMs] of [50, 100, 200, 400, 500, 500].entries()) {
      expect(await sentAfter(pauseMs - 1)).toBe(index + 1);
      expect(await sentAfter(1)).toBe(index + 2);
    }
    expect(await running).toEqual(ROWS);
    expect(faults).toEqual([]);
  });

  it.each(['42P01', '3F000', '42P10', '42883'])(
    'that meets tables which a dump replaces (%s) is repeated, and is an outage of its own',
    async (code) => {
      const { answers, database, faults, sentAfter } = opened();
      answers.push(ofServer(code), ofServer(code));
      const running = database.run(STATEMENT);
      for (let i = 0; i < 3; i++) await sentAfter(100);
      expect(await running).toEqual(ROWS);
      answers.push(...Array<Error>(100).fill(ofServer(code)));
      const failed = expect(database.run(STATEMENT)).rejects.toBeInstanceOf(DatabaseAwayError);
      for (let passedMs = 0; passedMs <= PATIENCE_MS; passedMs += 50) await sentAfter(50);
      await failed;
      expect(faults).toEqual([]);
    },
  );

  it.each(['42501', '42P01', '42P10', '42883', '42703'])(
    'that wants what is missing (%s) is an outage, which ends with a probe; patient ones are repeated',
    async (code) => {
      const { answers, database, faults, sentAfter } = opened();
      const watch = watchOf();
      database.watchWith(watch);
      watch.now = 'no table';
      answers.push(ofServer(code));
      await expect(database.run(STATEMENT)).rejects.toEqual(new LackError('no table'));
      answers.push(ofServer(code));
      const patient = database.run(STATEMENT, { isPatient: true });
      await settle();
      await expect(database.transaction((query) => query(STATEMENT))).resolves.toBe(ROWS);
      expect(faults).toEqual(['no table']);
      watch.now = undefined;
      await sentAfter(50);
      expect(await patient).toBe(ROWS);
      await sentAfter(250);
      expect([faults, database.fault()]).toEqual([['no table', undefined], undefined]);
    },
  );

  it('that wants what is not missing is repeated at once, as it may be back, and then a bug', async () => {
    const { answers, database, faults, sent } = opened();
    database.watchWith(watchOf());
    answers.push(ofServer('42P10'));
    expect(await database.run(STATEMENT)).toBe(ROWS);
    answers.push(ofServer('42501'), ofServer('42501'));
    await expect(database.run(STATEMENT)).rejects.toMatchObject({ name: 'StatementError', code: '42501' });
    answers.push(ROWS, ofServer('42P01'), ROWS, ROWS, ofServer('42P01'));
    await expect(database.transaction((query) => query(STATEMENT))).rejects.toBeInstanceOf(StatementError);
    expect([answers, faults, sent.length]).toEqual([[], [], 10]);
  });

  it('that wants something once more after a look found nothing missing is an outage, where the next look knows better', async () => {
    const { answers, database, faults } = opened();
    const watch = watchOf();
    const look = async (_query: unknown, hasBeenWhole = false): Promise<void> => {
      watch.fault = hasBeenWhole ? 'no table' : undefined;
    };
    database.watchWith(Object.assign(watch, { look }));
    answers.push(ofServer('42P01'), ofServer('42P01'));
    await expect(database.run(STATEMENT)).rejects.toEqual(new LackError('no table'));
    expect([answers, faults]).toEqual([[], ['no table']]);
  });

  it('that met a deadlock before it wanted something has not wanted it before', async () => {
    const { answers, database } = opened();
    const looks: (boolean | undefined)[] = [];
    database.watchWith({ ...watchOf(), look: async (_query, hasBeenWhole) => void looks.push(hasBeenWhole) });
    answers.push(ROWS, DEADLOCK, ROWS, ROWS, ofServer('42P01'), ROWS, ROWS, ofServer('42P01'));
    await expect(database.transaction((query) => query(STATEMENT))).rejects.toBeInstanceOf(StatementError);
    expect(looks).toEqual([false, true]);
  });

  it('that wants what was missing, and is back before anyone looks, is repeated once more', async () => {
    const { answers, database, sentAfter } = opened();
    const watch = watchOf();
    database.watchWith(watch);
    watch.now = 'no table';
    answers.push(ofServer('42P01'), ofServer('42P01'));
    const running = database.run(STATEMENT, { isPatient: true });
    await settle();
    watch.now = watch.fault = undefined;
    await sentAfter(50);
    expect(await running).toBe(ROWS);
  });

  it('that wants something while nobody can look what is missing is an outage', async () => {
    const { answers, database, sentAfter } = opened();
    const watch = watchOf();
    database.watchWith({ ...watch, fault: undefined, look: (query) => query(STATEMENT).then(() => {}) });
    answers.push(ofServer('42P10'), LOST);
    const running = database.run(STATEMENT);
    await settle();
    await sentAfter(50);
    expect(await running).toBe(ROWS);
  });

  it('that meets a bug, also one of the look for what is missing, ends with it at once', async () => {
    const { answers, database, faults, sent } = opened();
    const bug = new TypeError('a bug');
    database.watchWith({ ...watchOf(), look: () => Promise.reject(bug) });
    answers.push(ofServer('42P01'), ofServer('42P01'), ROWS, ofServer('42P01'));
    await expect(database.run(STATEMENT)).rejects.toBe(bug);
    await expect(database.run(STATEMENT, { isPatient: true })).rejects.toBe(bug);
    await expect(database.transaction((query) => query(STATEMENT))).rejects.toBe(bug);
    expect([answers, faults, sent.length]).toEqual([[], [], 5]);
  });

  it.each([LOST, ofServer('08006'), ofServer('57P01'), ofServer('57P05'), ofServer('25P03')])(
    'that fails with one connection (%s) says nothing of the database',
    async (failure) => {
      const { answers, database, faults } = opened();
      answers.push(failure);
      expect(await database.run(STATEMENT)).toEqual(ROWS);
      expect(faults).toEqual([]);
    },
  );

  it.each([
    ['is refused', [REFUSED], StatementError],
    ['is refused after an answer that was lost, and may have met itself', [LOST, REFUSED], InDoubtError],
  ] as const)('that %s, is not repeated', async (_, failures, kind) => {
    const { answers, database } = opened();
    answers.push(...failures);
    await expect(database.run(STATEMENT)).rejects.toBeInstanceOf(kind);
    expect(answers).toEqual([]);
  });

  it.each([
    ['changed nothing where it was never sent', [], NO_CONNECTION, DatabaseAwayError],
    ['changed nothing where it was cancelled', [CANCELLED], undefined, DatabaseAwayError],
    ['is in doubt where an answer was lost before', [LOST], NO_CONNECTION, InDoubtError],
  ] as const)('that is given up after four seconds %s', async (_, failures, then, kind) => {
    const { answers, connects, database, sentAfter } = opened();
    answers.push(...(then === undefined ? Array<Error>(100).fill(failures[0] as Error) : failures));
    if (then !== undefined) connects.push(...failures.map(() => undefined), ...Array<Error>(100).fill(then));
    let failure: unknown;
    database.run(STATEMENT).catch((found: unknown) => {
      failure = found;
    });
    await sentAfter(PATIENCE_MS - 1000);
    expect(failure).toBeUndefined();
    for (let passedMs = 0; passedMs <= 4 * PATIENCE_MS; passedMs += 500) await sentAfter(500);
    expect(failure).toBeInstanceOf(kind);
  });

  it('fails at once while the database is known to be away, unless it is patient', async () => {
    const { away, connects, database, sent, sentAfter } = opened();
    await away();
    const left = connects.length;
    await expect(database.run(STATEMENT)).rejects.toBeInstanceOf(DatabaseAwayError);
    expect(connects).toHaveLength(left);
    const patient = database.run(STATEMENT, { isPatient: true });
    await settle();
    connects.length = 0;
    await sentAfter(500);
    expect(await patient).toEqual(ROWS);
    expect([sent.includes('statement'), database.fault()]).toEqual([true, undefined]);
  });

  it('fails at once while the tables are refused, also after an outage, unless it is patient or a transaction', async () => {
    const { answers, database, faults, sentAfter } = opened();
    database.refuse('other tables');
    database.refuse('other tables');
    await expect(database.run(STATEMENT)).rejects.toEqual(new DatabaseAwayError('other tables'));
    expect(await database.run(STATEMENT, { isPatient: true })).toBe(ROWS);
    expect(await database.transaction((query) => query(STATEMENT))).toBe(ROWS);
    answers.push(ofServer('42501'));
    await expect(database.probe()).rejects.toBeInstanceOf(StatementError);
    await sentAfter(250);
    expect(faults).toEqual(['other tables', expect.stringContaining('42501'), 'other tables']);
    expect(database.fault()).toBe('other tables');
    database.refuse(undefined);
    expect([await database.run(STATEMENT), database.fault(), faults.at(-1)]).toEqual([ROWS, undefined, undefined]);
  });

  it('waits for nothing at the end of its process', async () => {
    const { connects, database, time } = opened();
    connects.push(...Array<Error>(100).fill(NO_CONNECTION));
    const failed = expect(database.run(STATEMENT)).rejects.toBeInstanceOf(DatabaseAwayError);
    await settle();
    database.endWaits();
    await failed;
    expect(time.pendingCount).toBe(0);
    const ending = opened();
    ending.database.endWaits();
    ending.connects.push(NO_CONNECTION);
    await expect(ending.database.run(STATEMENT)).rejects.toBeInstanceOf(DatabaseAwayError);
    expect(ending.time.pendingCount).toBe(0);
    await database.close();
    connects.length = 0;
    await expect(database.run(STATEMENT, { isPatient: true })).rejects.toThrow('was closed');
  });
});

describe('a database that is away', () => {
  it('is probed four times a second until it can be used', async () => {
    const { away, connects, database, faults, sent, sentAfter, time } = opened();
    await away();
    const paused = database.pause(60_000);
    connects.length = 0;
    sent.length = 0;
    await sentAfter(250);
    await paused;
    expect([sent.length, database.fault(), time.pendingCount]).toEqual([1, undefined, 0]);
    expect(faults).toEqual([expect.stringContaining('nobody listens'), undefined]);
  });

  it('whose disk is full answers what it can, and is a fault until there is room again, whatever else succeeds', async () => {
    const { answers, broken, database, faults, sent, sentAfter } = opened();
    const full = ofServer('53100');
    answers.push(full);
    await expect(database.run(STATEMENT)).rejects.toBeInstanceOf(DatabaseAwayError);
    expect(await database.run(STATEMENT)).toBe(ROWS);
    await database.probe();
    const patient = database.run(STATEMENT, { isPatient: true });
    answers.push(full, ROWS, ROWS, full);
    await settle();
    await sentAfter(50);
    expect(await patient).toBe(ROWS);
    await sentAfter(200);
    expect([sent.at(-1), broken.at(-1)]).toEqual([expect.stringContaining('temp_tablespaces'), true]);
    expect([database.fault(), faults]).toEqual([expect.stringContaining('53100'), [expect.any(String)]]);
    await sentAfter(250);
    expect([database.fault(), faults.slice(1)]).toEqual([undefined, [undefined]]);
    const count = sent.length;
    await sentAfter(1000);
    expect(sent).toHaveLength(count);
  });

  it('is said to be full where that shows only while it is away', async () => {
    const { answers, database, faults, sentAfter } = opened();
    answers.push(ofServer('57P03'), ofServer('57P03'), ofServer('53100'), ofServer('53100'));
    const repeated = database.run(STATEMENT, { isPatient: true });
    for (let passedMs = 0; passedMs < 1000; passedMs += 50) await sentAfter(50);
    await repeated;
    expect(faults).toEqual([expect.stringContaining('57P03'), expect.stringContaining('53100'), undefined]);
  });

  it('that begins while the database looks for room is ended by a probe too', async () => {
    const { answers, database, faults, sentAfter } = opened();
    const room = Promise.withResolvers<Row[]>();
    answers.push(ofServer('53100'), ROWS, room.promise, ofServer('57P03'));
    await expect(database.run(STATEMENT)).rejects.toBeInstanceOf(DatabaseAwayError);
    await sentAfter(250);
    // It is not repeated, so that no repeat ends the outage.
    await expect(database.transaction((query) => query(STATEMENT))).rejects.toBeInstanceOf(DatabaseAwayError);
    room.resolve(ROWS);
    await settle();
    expect(database.fault()).toContain('57P03');
    await sentAfter(250);
    expect([answers, database.fault(), faults.at(-1)]).toEqual([[], undefined, undefined]);
  });

  it('is not full for long where the server cannot tell whether there is room', async () => {
    const { answers, database, sentAfter } = opened();
    answers.push(ofServer('53100'), ROWS, ofServer('53400'));
    await expect(database.run(STATEMENT)).rejects.toBeInstanceOf(DatabaseAwayError);
    expect(database.fault()).toContain('53100');
    await sentAfter(250);
    expect([answers, database.fault()]).toEqual([[], undefined]);
  });

  it('is also one that refuses the probe, which no request causes', async () => {
    const { answers, database, faults, sentAfter } = opened();
    answers.push(ofServer('42501'), ofServer('42501'));
    await expect(database.probe()).rejects.toBeInstanceOf(StatementError);
    expect(database.fault()).toBe('the database cannot be used: SQLSTATE 42501');
    await sentAfter(250);
    expect(faults).toHaveLength(1);
    await sentAfter(250);
    expect([database.fault(), faults]).toEqual([undefined, [expect.any(String), undefined]]);
  });

  it('is also one whose clock is more than a second off, as far as the round trip shows it', async () => {
    const { answers, database, faults, time, trip } = opened();
    const probedAt = (now_ms: number): Promise<boolean> => {
      answers.push([{ now_ms, read_only: 'off' }]);
      return database.probe();
    };
    expect(await probedAt(time.nowMs() - 1000)).toBe(true);
    await probedAt(time.nowMs() + 1001);
    expect(database.fault()).toBe("the clock of this machine is 1.0 s behind the database's");
    await probedAt(time.nowMs() - 1001);
    await probedAt(time.nowMs());
    expect(faults).toEqual([expect.stringContaining('1.0 s behind'), undefined]);
    // Said somewhere on a way of a second.
    trip.ms = 1000;
    await probedAt(time.nowMs() + 500 + 1500);
    expect(database.fault()).toBeUndefined();
    await probedAt(time.nowMs() + 500 - 1501);
    expect(database.fault()).toContain("ahead of the database's");
    await probedAt(time.nowMs() + 500);
    expect(faults).toHaveLength(4);
    trip.ms = 0;
    answers.push([{ now_ms: time.nowMs(), read_only: 'on' }]);
    expect(await database.probe()).toBe(false);
  });

  it.each(['probe', 'repeat'])(
    'is not one whose answer to an earlier %s is lost after a later statement succeeded',
    async (kind) => {
      const { answers, database, faults, sent, sentAfter } = opened();
      const { promise, reject } = Promise.withResolvers<Row[]>();
      answers.push(...(kind === 'repeat' ? [LOST, promise] : [promise]));
      const earlier = (kind === 'repeat' ? database.run(STATEMENT) : database.probe()).catch(() => {});
      await settle();
      expect(await database.run(STATEMENT)).toEqual(ROWS);
      reject(LOST);
      await settle();
      expect([database.fault(), faults]).toEqual([undefined, []]);
      // It may have gone since, which a probe finds out.
      const sentCount = sent.length;
      answers.push(LOST);
      expect(await sentAfter(250)).toBeGreaterThan(sentCount);
      await earlier;
      expect(faults[0]).toContain('the connection is gone');
    },
  );

  it('is judged by the clock as the latest probe saw it, also when an earlier one is answered later', async () => {
    const { answers, database, faults, time } = opened();
    const { promise, resolve } = Promise.withResolvers<Row[]>();
    answers.push(promise);
    const earlier = database.probe();
    await settle();
    const BEHIND_MS = 5000;
    time.stepWall(BEHIND_MS);
    answers.push([{ now_ms: time.nowMs() }]);
    time.pass(1);
    await database.probe();
    resolve([{ now_ms: time.nowMs() }]);
    await earlier;
    expect([database.fault(), faults]).toEqual([undefined, []]);
  });

  it.each([
    [1001, '1.0 s ahead'],
    [-3_600_000, '3600.0 s back'],
  ])(
    "is also one since which this machine's clock was set by %i ms, until a probe asks for the time",
    async (byMs, said) => {
      const { answers, database, sentAfter, time } = opened();
      answers.push([{ now_ms: time.nowMs() }]);
      await database.probe();
      time.pass(3000);
      time.stepWall(Math.sign(byMs) * 1000);
      expect(database.fault()).toBeUndefined();
      time.stepWall(byMs - Math.sign(byMs) * 1000);
      const set = `the clock of this machine was put ${said}`;
      expect([database.fault(), database.fault(), await sentAfter(249)]).toEqual([set, set, 1]);
      answers.push([{ now_ms: time.nowMs() }]);
      expect([await sentAfter(1), database.fault()]).toEqual([2, undefined]);
    },
  );
});

describe('a transaction', () => {
  const twoOf = (database: Database): Promise<string> =>
    database.transaction(async (query) => {
      await query({ text: 'first' });
      await query({ text: 'second' });
      return 'done';
    });

  it('is repeated whole after a deadlock, and rolled back before', async () => {
    const { answers, broken, database, sent } = opened();
    answers.push(ROWS, ROWS, DEADLOCK);
    expect(await twoOf(database)).toBe('done');
    const whole = ['BEGIN', 'first', 'second'];
    expect(sent).toEqual([...whole, 'ROLLBACK', ...whole, 'COMMIT']);
    expect(broken).toEqual([false, false]);
  });

  it.each([
    ['changed nothing when it is lost before its commit', [ROWS, LOST], DatabaseAwayError],
    ['is in doubt when the answer to its commit is lost', [ROWS, ROWS, ROWS, LOST], InDoubtError],
    ['changed nothing when a statement is refused', [ROWS, REFUSED, LOST], StatementError],
  ] as const)('%s, and its connection is thrown away', async (_, given, kind) => {
    const { answers, broken, database, sent } = opened();
    answers.push(...(given as readonly Answer[]));
    await expect(twoOf(database)).rejects.toBeInstanceOf(kind);
    expect([broken, answers, sent.length]).toEqual([[true], [], given.length]);
  });
});
