/** Statements that take what dead processes hold, while living ones take it too. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { Cases } from '../../../src/storage/postgres/cases.ts';
import { Claims, hexOfKey } from '../../../src/storage/postgres/claims.ts';
import type { Connections, Statement } from '../../../src/storage/postgres/connections.ts';
import type { Database } from '../../../src/storage/postgres/database.ts';
import { Identifiers } from '../../../src/storage/postgres/identifiers.ts';
import { TAKE_DEAD } from '../../../src/storage/postgres/resolves/statements.ts';
import { FREE_DEAD, FREE_DEAD_KEYS } from '../../../src/storage/postgres/retries/statements.ts';
import { orderFor } from '../../payment/fixture.ts';
import { SERVER } from '../../support/postgres-database.ts';
import { SALE } from '../../support/sale.ts';
import { until } from '../../support/until.ts';
import { Shared } from './opened.ts';

/** Claims of any table count. */
const ANY_TABLES = { sawClaims() {} };

/** The process that takes something and lives. */
const TAKER = 'taker';
const DIGEST = 'digest';
/** Of an advisory lock. */
const LOCK = 7;

const WAITING: Statement = {
  text: "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
};
const REGISTER: Statement = { text: 'INSERT INTO paygrade.processes VALUES ($1, 0, 0)', values: [TAKER] };

interface Contest {
  readonly what: string;
  /** Something that a dead process holds. */
  readonly made: string;
  readonly takenBy: string;
  readonly holderOf: string;
  /** Another process takes it too. */
  take(database: Database): Promise<unknown>;
}

const CONTESTS: readonly Contest[] = [
  {
    what: 'a retry job',
    made: "INSERT INTO paygrade.retries (id, customer, next_ms, state, holder) VALUES ('1', '', 0, '', 'dead')",
    takenBy: `UPDATE paygrade.retries SET holder = '${TAKER}'`,
    holderOf: 'SELECT holder FROM paygrade.retries',
    take: (database) => database.run(FREE_DEAD),
  },
  {
    what: 'an idempotency key',
    made: "INSERT INTO paygrade.retry_claims VALUES ('', 'dead 1', 0)",
    takenBy: `UPDATE paygrade.retry_claims SET owner = '${TAKER} 1'`,
    holderOf: "SELECT split_part(owner, ' ', 1) AS holder FROM paygrade.retry_claims",
    take: (database) => database.run(FREE_DEAD_KEYS),
  },
  {
    what: 'a case',
    made: "INSERT INTO paygrade.cases (serial, settlement, terms, sale, owner) VALUES (1, 'local', '', '', 'dead')",
    takenBy: `UPDATE paygrade.cases SET owner = '${TAKER}'`,
    holderOf: 'SELECT owner AS holder FROM paygrade.cases',
    take: (database) => new Cases(database, systemClock, 'other', 'local').takeOver([]),
  },
  {
    what: 'an identifier',
    made: `INSERT INTO paygrade.identifiers (digest, fingerprint, attempt, owner) VALUES ('${DIGEST}', '', 1, 'dead')`,
    takenBy: `UPDATE paygrade.identifiers SET owner = '${TAKER}'`,
    holderOf: 'SELECT owner AS holder FROM paygrade.identifiers',
    take: (database) =>
      new Identifiers(database, systemClock, 'other', () => {}).claim([{ digest: DIGEST, fingerprint: '' }], 1),
  },
  {
    what: 'a resolve',
    made: `INSERT INTO paygrade.resolves (id, token_digest, created_ms, status, holder)
      VALUES ('1', '', paygrade.now_ms(), 'pending', 'dead')`,
    takenBy: `UPDATE paygrade.resolves SET holder = '${TAKER}'`,
    holderOf: 'SELECT holder FROM paygrade.resolves',
    take(database) {
      // It waits for no row, so for a lock.
      const text = TAKE_DEAD.text.replace(
        'ORDER BY created_ms LIMIT',
        `AND (SELECT pg_advisory_xact_lock_shared(${LOCK})) IS NOT NULL $&`,
      );
      return database.run({ text, values: ['other', 'hold', systemClock.nowMs(), 1, []] });
    },
  },
];

interface Contested {
  readonly database: Database;
  readonly connections: Connections;
}

async function contested(made: string): Promise<Contested> {
  const shared = await Shared.open(SERVER);
  const { database } = await shared.process();
  const connections = shared.on.connections();
  onTestFinished(async () => {
    await connections.end();
    await shared.remove();
  });
  await database.run({ text: made });
  return { database, connections };
}

/** Does `meanwhile` once `act` waits for what `statement` has changed, and then commits the statement. */
async function during<T>(
  { database, connections }: Contested,
  statement: string,
  act: () => Promise<T>,
  meanwhile: () => Promise<unknown>,
): Promise<T> {
  const connection = await connections.connect();
  try {
    await connection.query({ text: 'BEGIN' });
    await connection.query({ text: statement });
    const acting = act();
    await until('it waits', async () => (await database.run(WAITING)).length > 0);
    await meanwhile();
    await connection.query({ text: 'COMMIT' });
    return await acting;
  } finally {
    connection.release(false);
  }
}

describe.skipIf(SERVER === undefined)('what a living process has just taken from a dead one', () => {
  describe.each(CONTESTS)('$what', ({ made, takenBy, holderOf, take }) => {
    const taken = `SELECT pg_advisory_xact_lock(${LOCK}); ${takenBy}`;

    it('stays with it', async () => {
      const one = await contested(made);
      await one.database.run(REGISTER);
      await during(
        one,
        taken,
        () => take(one.database),
        async () => {},
      );
      expect(await one.database.run({ text: holderOf })).toEqual([{ holder: TAKER }]);
    });

    it('stays with it also when it registered while the other waited', async () => {
      const one = await contested(made);
      await during(
        one,
        taken,
        () => take(one.database),
        () => one.database.run(REGISTER),
      );
      expect(await one.database.run({ text: holderOf })).toEqual([{ holder: TAKER }]);
    });

    it('is taken from it when it has died too', async () => {
      const one = await contested(made);
      await during(
        one,
        taken,
        () => take(one.database),
        async () => {},
      );
      expect(await one.database.run({ text: holderOf })).not.toEqual([{ holder: TAKER }]);
    });
  });
});

describe.skipIf(SERVER === undefined)('a case of a process that was cut off and is back', () => {
  const MADE = `INSERT INTO paygrade.cases (serial, settlement, terms, sale, owner)
    SELECT serial, 'local', '', '', '${TAKER}' FROM generate_series(1, 2) AS serial`;
  const LOCKED = 'SELECT FROM paygrade.cases WHERE serial = 2 FOR UPDATE';

  it('is not held by it when a take-over that began earlier has not ended', async () => {
    const one = await contested(MADE);
    const cases = new Cases(one.database, systemClock, TAKER, 'local');
    let isHeld: Promise<boolean> | undefined;
    // The take-over has taken the first case and waits for the second.
    const takeOver = () => new Cases(one.database, systemClock, 'other', 'local').takeOver([]);
    await during(one, LOCKED, takeOver, async () => {
      await one.database.run(REGISTER);
      isHeld = cases.isHeld(1);
      await until('both wait', async () => (await one.database.run(WAITING)).length > 1);
    });
    expect(await isHeld).toBe(false);
  });

  it('stays with it when it has asked before the take-over came to the case', async () => {
    const one = await contested(MADE);
    const cases = new Cases(one.database, systemClock, TAKER, 'local');
    const takeOver = () => new Cases(one.database, systemClock, 'other', 'local').takeOver([]);
    // The take-over waits for the first case.
    await during(one, LOCKED.replace('2', '1'), takeOver, async () => {
      await one.database.run(REGISTER);
      expect(await cases.isHeld(2)).toBe(true);
    });
    const owners = await one.database.run({ text: 'SELECT owner FROM paygrade.cases WHERE serial = 2' });
    expect(owners).toEqual([{ owner: TAKER }]);
  });
});

const ORDER = orderFor();
const CLAIMED = `
  INSERT INTO paygrade.claims (key, owner, attempt, valid_before)
  VALUES ('\\x${hexOfKey(ORDER.key)}', '${TAKER}', 1, 0) RETURNING serial`;

describe.skipIf(SERVER === undefined)('a claim of a process', () => {
  it('is given back by its attempt alone before its intent, and removed only as it was when it looked abandoned', async () => {
    const { database } = await contested('SELECT');
    const [one, taker] = ['one', TAKER].map(
      (owner) =>
        new Claims(database, owner, { identity: ANY_TABLES, retention: { removableSerial: () => 0 }, onDoubt() {} }),
    ) as [Claims, Claims];
    const { key } = ORDER;
    await database.run({ text: CLAIMED });
    const found = (await one.find(key))!;
    expect(found.isAbandoned).toBe(true);
    await one.release({ key, attempt: 1 });
    await one.freeStrays(9, []);
    await taker.release({ key, attempt: 2 });
    const { serial } = found;
    const item = { key, serial, attempt: 1, order: ORDER, sale: SALE, answers: [] };
    expect(await new Cases(database, systemClock, TAKER, 'local').intend.add(item)).toBe('there');
    await taker.release({ key, attempt: 1 });
    await one.remove(key, found);
    expect((await one.find(key))?.status).toEqual({ kind: 'settling' });
    // Removed by another process, and claimed again.
    await database.run({ text: 'DELETE FROM paygrade.claims' });
    const [claimed] = await database.run({ text: CLAIMED });
    await one.remove(key, found);
    expect((await one.find(key))?.serial).toBe(claimed!.serial);
    await taker.release({ key, attempt: 1 });
    expect(await one.find(key)).toBeUndefined();
  });
});

describe.skipIf(SERVER === undefined)('a case of a process', () => {
  it('is taken once more by one that did not learn that it has it, and by none that settles otherwise', async () => {
    const { database } = await contested('SELECT');
    const [claimed] = await database.run({ text: CLAIMED });
    const cases = new Cases(database, systemClock, TAKER, 'local');
    const serial = claimed!.serial as number;
    await cases.intend.add({ key: ORDER.key, serial, attempt: 1, order: ORDER, sale: SALE, answers: [] });
    // Its process is dead for others.
    expect(await new Cases(database, systemClock, 'other', 'facilitator').takeOver([])).toEqual([]);
    await database.run(REGISTER);
    expect(await new Cases(database, systemClock, 'other', 'local').takeOver([])).toEqual([]);
    expect(await cases.takeOver([serial])).toEqual([]);
    expect(await cases.takeOver([])).toMatchObject([{ serial, sale: SALE, isRefused: false, transaction: '' }]);
    expect(await cases.isHeld(serial)).toBe(true);
  });
});

describe.skipIf(SERVER === undefined)('an identifier of a process that was cut off and is back', () => {
  it('sells once, although another process takes it while the intent is written', async () => {
    const one = await contested(
      `INSERT INTO paygrade.identifiers (digest, fingerprint, attempt, owner) VALUES ('${DIGEST}', '', 1, '${TAKER}')`,
    );
    const [claimed] = await one.database.run({ text: CLAIMED });
    const answer = { claim: { digest: DIGEST, fingerprint: '' }, sealed: Uint8Array.of(1) };
    const item = {
      key: ORDER.key,
      serial: claimed!.serial as number,
      attempt: 1,
      order: ORDER,
      sale: SALE,
      answers: [answer],
    };
    const intend = () => new Cases(one.database, systemClock, TAKER, 'local').intend.add(item);
    const ended = await during(one, "UPDATE paygrade.identifiers SET owner = 'other'", intend, async () => {});
    expect(ended).toBe('gone');
    const left = await one.database.run({ text: 'SELECT owner, sealed FROM paygrade.identifiers' });
    expect(left).toEqual([{ owner: 'other', sealed: null }]);
  });
});
