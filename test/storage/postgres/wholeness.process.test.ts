/**
 * A server that runs while an operator takes rights and constraints from its database, and gives them back: nothing is sold that is not
 * on record, nothing twice, every payment is free or sold afterwards, and `/ready` and the log say what is missing.
 */
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { parseDatabaseUrl } from '../../../src/storage/postgres/address.ts';
import { CONNECTION_LIMITS, openPostgresBackend } from '../../../src/storage/postgres/backend.ts';
import { openConnections } from '../../../src/storage/postgres/connections.ts';
import { Database } from '../../../src/storage/postgres/database.ts';
import { inspectDatabase } from '../../../src/storage/postgres/inspect.ts';
import { migrate } from '../../../src/storage/postgres/migrations.ts';
import { NEEDED } from '../../../src/storage/postgres/needs.ts';
import { TABLES } from '../../../src/storage/postgres/tables/tables.ts';
import type { Query } from '../../../src/storage/postgres/transaction.ts';
import { PARTS, Wholeness } from '../../../src/storage/postgres/wholeness.ts';
import { StateError } from '../../../src/storage/state-error.ts';
import { type Callback, createCallback, eventsOf, post } from '../../support/callback-client.ts';
import { Chance } from '../../support/chance.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { type OpenedApp, openedApp } from '../../support/opened-app.ts';
import { grantsTo, SERVER, testDatabase } from '../../support/postgres-database.ts';
import { until } from '../../support/until.ts';
import { encodeHeader, offerFrom, paymentFor, wallet } from '../../support/wallet.ts';

const ADMIN_TOKEN = 'operator-token-of-forty-characters-0001';
const ROLE = `gate_${process.pid}`;
/** Payments that are sent one after the other while the state changes. */
const PAYMENT_COUNT = 60;
const PAUSE_MS = 20;

describe.skipIf(SERVER === undefined)('a server whose database is not whole', () => {
  let url: string;
  let operator: Client;
  let app: OpenedApp;
  let callback: Callback;
  let key: string;
  const faults: (string | undefined)[] = [];
  const sql = async (text: string): Promise<Record<string, unknown>[]> => (await operator.query(text)).rows;
  const isReady = async (): Promise<boolean> => (await app.fetch('/ready')).status === 200;
  const header = async (): Promise<string> =>
    encodeHeader(await paymentFor(await offerFrom(app.fetch('/v1/callbacks', { method: 'POST' })), wallet()));
  const buy = async (payment: string): Promise<number> =>
    (await app.fetch('/v1/callbacks', { method: 'POST', headers: { 'payment-signature': payment } })).status;
  const usage = async (): Promise<unknown> => {
    const headers = { authorization: `Bearer ${key}` };
    return ((await (await app.fetch('/retry/v1/usage', { headers })).json()) as { credits: unknown }).credits;
  };

  beforeAll(async () => {
    url = await SERVER!.freshUrl();
    operator = new Client({ connectionString: url });
    await operator.connect();
    await sql(`CREATE ROLE ${ROLE} LOGIN PASSWORD 'gate'`);
    await sql(`GRANT CREATE ON DATABASE "${new URL(url).pathname.slice(1)}" TO ${ROLE}`);
    const address = new URL(url);
    [address.username, address.password] = [ROLE, 'gate'];
    app = await openedApp(
      {
        DATABASE_URL: address.href,
        STATE_SYNC: 'normal',
        STATE_KEY: Buffer.alloc(32, 7).toString('base64'),
        ADMIN_TOKEN,
      },
      { onStateFault: (fault) => void faults.push(fault) },
    );
    callback = await createCallback(app);
    const admin = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
    const asked = async (path: string, body: unknown) =>
      (await app.fetch(path, { method: 'POST', headers: admin, body: JSON.stringify(body) })).json();
    await asked('/admin/v1/grants', { organization: 'acme', kind: 'onboarding', amount: 1000 });
    const scopes = ['jobs:read', 'retries:read', 'retries:write'];
    ({ key } = (await asked('/admin/v1/keys', { organization: 'acme', scopes })) as { key: string });
  });
  beforeEach(() => {
    faults.length = 0;
  });
  afterAll(async () => {
    await app.close();
    await operator.end();
    await SERVER!.drop(url);
  });

  /** Sends payments while something is missing for a time, and checks what became of each. */
  async function sellWhile(take: string, give: string): Promise<void> {
    const payments = await Promise.all(Array.from({ length: PAYMENT_COUNT }, header));
    const before = Number((await sql('SELECT count(*) FROM paygrade.sales'))[0]?.count);
    const spentBefore = await sql(
      'SELECT sum(atomic) / (SELECT max(amount) FROM paygrade.sales) AS bought FROM paygrade.play_spent',
    );
    const first = Promise.all(
      payments.map(async (payment, index) => {
        await new Promise((resolve) => setTimeout(resolve, index * PAUSE_MS));
        return buy(payment);
      }),
    );
    await new Promise((resolve) => setTimeout(resolve, (PAYMENT_COUNT / 3) * PAUSE_MS));
    await sql(take);
    let unpaid: Response;
    try {
      await until('it is not ready', async () => !(await isReady()), 10_000);
      expect(await (await app.fetch('/ready')).json()).toMatchObject({ state: false });
      unpaid = await app.fetch('/v1/callbacks', { method: 'POST' });
      // What needs nothing of that goes on.
      const { event_id } = (await (await post(app, callback.id, 'meanwhile')).json()) as { event_id: string };
      expect(await eventsOf(app, callback)).toContainEqual(expect.objectContaining({ id: event_id }));
      expect(await usage()).toMatchObject({ charged: 0 });
      await first;
    } finally {
      await sql(give);
    }
    expect([unpaid.status, unpaid.headers.get('payment-required')]).toEqual([503, null]);
    await until('it is ready', isReady, 10_000);
    const statuses = await first;
    expect(statuses.filter((status) => status !== 201 && status !== 503)).toEqual([]);
    await until('no settlement is open', async () => (await sql('SELECT FROM paygrade.cases')).length === 0, 10_000);
    // Nobody loses a payment: it buys now, unless it has bought.
    for (const [index, payment] of payments.entries()) {
      let again = 503;
      // A machine that is busy with other tests may be overloaded.
      const isAnswered = async (): Promise<boolean> => {
        again = await buy(payment);
        return again !== 503;
      };
      await until('it is answered', isAnswered, 10_000);
      expect([409, statuses[index] === 201 ? 409 : 201]).toContain(again);
    }
    const [sales] = await sql('SELECT count(*), count(DISTINCT key) AS keys FROM paygrade.sales');
    expect([Number(sales?.count) - before, sales?.keys]).toEqual([PAYMENT_COUNT, sales?.count]);
    const spent = await sql(
      'SELECT sum(atomic) / (SELECT max(amount) FROM paygrade.sales) AS bought FROM paygrade.play_spent',
    );
    expect(Number(spent[0]?.bought) - Number(spentBefore[0]?.bought)).toBe(PAYMENT_COUNT);
    expect(app.failures).toEqual([]);
  }

  it.each([
    ['sales', 'INSERT'],
    ['claims', 'UPDATE'],
  ])('whose role may not write %s (%s) sells nothing until it may', async (table, right) => {
    await sellWhile(
      `REVOKE ${right} ON paygrade.${table} FROM ${ROLE}`,
      `GRANT ${right} ON paygrade.${table} TO ${ROLE}`,
    );
    expect(faults).toEqual([`the role ${ROLE} lacks ${right} on table ${table} in the schema paygrade`, undefined]);
  });

  it('that lacks the key of its claims sells nothing until that is back', async () => {
    await sellWhile(
      'ALTER TABLE paygrade.claims DROP CONSTRAINT claims_pkey',
      'ALTER TABLE paygrade.claims ADD PRIMARY KEY (key)',
    );
    expect(faults).toEqual(['the database lacks UNIQUE (key) of table claims in the schema paygrade', undefined]);
  });
});

describe.skipIf(SERVER === undefined)('what a process needs of the schema', () => {
  let url: string;
  let client: Client;
  let wholeness: Wholeness;
  const query: Query = async ({ text, values = [] }) => (await client.query(text, [...values])).rows;
  const faultAfter = async (text: string, hasBeenWhole = false): Promise<string | undefined> => {
    await client.query(text);
    await wholeness.look(query, hasBeenWhole);
    return wholeness.fault;
  };
  const lacks = (what: string): string => `the database lacks ${what} in the schema paygrade`;
  /** As a newer release does with its changes. */
  const RAISE = "UPDATE paygrade.versions SET version = version + 1 WHERE domain = 'payments'";

  beforeAll(async () => {
    url = await SERVER!.freshUrl();
    const database = new Database(openConnections(parseDatabaseUrl(url), CONNECTION_LIMITS), {
      clock: systemClock,
      timers: new ManualTime(),
      onStateFault() {},
    });
    await migrate(database, TABLES, 'test');
    await database.close();
    client = new Client({ connectionString: url });
    await client.connect();
  });
  beforeEach(async () => {
    wholeness = await Wholeness.of(query);
  });
  afterAll(async () => {
    await client.end();
    await SERVER!.drop(url);
  });

  it('is all that a release makes, but for the row of the process that migrates', async () => {
    const text = `${PARTS} SELECT text FROM part WHERE text NOT LIKE 'table migrating%'`;
    const rows = await query({ text, values: [NEEDED] });
    const [made, needed] = [rows.map(({ text }) => text as string), [...NEEDED]].map((parts) =>
      parts.filter((part) => !part.includes('\tright\t')).sort(),
    );
    expect(needed).toEqual(made);
  });

  it('is named while it is missing, and by one text as long as no more is missing', async () => {
    const both = lacks('function is_alive(text), table resolves');
    await client.query('ALTER TABLE paygrade.resolves RENAME TO aside');
    expect(await faultAfter('ALTER FUNCTION paygrade.is_alive RENAME TO aside')).toBe(both);
    expect(await faultAfter('ALTER FUNCTION paygrade.aside RENAME TO is_alive')).toBe(both);
    expect(await faultAfter('ALTER TABLE paygrade.cases RENAME COLUMN sale TO aside')).toBe(
      lacks('table resolves, column sale of table cases'),
    );
    await client.query('ALTER TABLE paygrade.cases RENAME COLUMN aside TO sale');
    expect(await faultAfter('ALTER TABLE paygrade.aside RENAME TO resolves')).toBeUndefined();
    expect(await faultAfter('ALTER SCHEMA paygrade RENAME TO aside')).toMatch(
      /^the database lacks .*, .* and \d+ more/,
    );
    expect(await faultAfter('ALTER SCHEMA aside RENAME TO paygrade')).toBeUndefined();
  });

  it('may have more beside it, and other names, indexes and search paths', async () => {
    for (const text of [
      'CREATE TABLE paygrade.mine (one integer); ALTER TABLE paygrade.sales ADD COLUMN mine integer',
      'ALTER INDEX paygrade.claims_serial RENAME TO mine_serial',
      'ALTER TABLE paygrade.retry_usage DROP CONSTRAINT retry_usage_pkey, ADD PRIMARY KEY (month_ms, organization)',
      'DROP INDEX paygrade.sales_time',
      'SET search_path = paygrade',
    ]) {
      expect(await faultAfter(text)).toBeUndefined();
    }
  });

  it.each(['UNIQUE (organization, month_ms) DEFERRABLE', 'EXCLUDE (organization WITH =, month_ms WITH =)'])(
    'is not there in a constraint that takes no ON CONFLICT: %s',
    async (constraint) => {
      const fault = lacks('UNIQUE (month_ms, organization) of table retry_usage');
      const kept = 'ALTER TABLE paygrade.retry_usage DROP CONSTRAINT IF EXISTS retry_usage_pkey';
      expect(await faultAfter(`${kept}, ADD CONSTRAINT mine_pair ${constraint}`)).toBe(fault);
      expect(
        await faultAfter('CREATE UNIQUE INDEX ON paygrade.retry_usage (month_ms, organization, (month_ms + 1))'),
      ).toBe(fault);
      await client.query('ALTER TABLE paygrade.retry_usage DROP CONSTRAINT mine_pair');
      expect(
        await faultAfter('ALTER TABLE paygrade.retry_usage ADD PRIMARY KEY (organization, month_ms)'),
      ).toBeUndefined();
    },
  );

  it('may be granted by columns, if by all, but for those of others', async () => {
    const role = `columns_${process.pid}`;
    await client.query(`CREATE ROLE ${role}; ${grantsTo(role)}; REVOKE INSERT ON paygrade.versions FROM ${role};
      REVOKE INSERT ON paygrade.secrets FROM ${role}; ALTER TABLE paygrade.secrets ADD COLUMN mine integer`);
    await client.query(`GRANT INSERT (name) ON paygrade.secrets TO ${role}; SET ROLE ${role}`);
    try {
      expect(await faultAfter('SELECT')).toBe(`the role ${role} lacks INSERT on table secrets in the schema paygrade`);
      await expect(client.query("INSERT INTO paygrade.secrets (name, bytes) VALUES ('a', '')")).rejects.toThrow();
      expect(
        await faultAfter(`RESET ROLE; GRANT INSERT (bytes) ON paygrade.secrets TO ${role}; SET ROLE ${role}`),
      ).toBeUndefined();
      await client.query("BEGIN; INSERT INTO paygrade.secrets (name, bytes) VALUES ('a', ''); ROLLBACK");
    } finally {
      await client.query(`RESET ROLE; DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
  });

  it('can be looked at while its tables are locked or their indexes are made again', async () => {
    const other = new Client({ connectionString: url });
    await other.connect();
    try {
      const tables = await client.query(
        "SELECT format('paygrade.%I', tablename) AS name FROM pg_tables WHERE schemaname = 'paygrade'",
      );
      await other.query(`BEGIN; LOCK TABLE ${tables.rows.map(({ name }) => name).join(', ')} IN ACCESS EXCLUSIVE MODE`);
      await client.query('SET statement_timeout = 2000');
      expect(await faultAfter('SELECT')).toBeUndefined();
      await client.query('RESET statement_timeout');
      await other.query('ROLLBACK');
      let isOver = false;
      const again = other.query('REINDEX TABLE CONCURRENTLY paygrade.claims').finally(() => {
        isOver = true;
      });
      while (!isOver) expect(await faultAfter('SELECT')).toBeUndefined();
      await again;
    } finally {
      await other.end();
    }
  });

  it('is still needed after a newer release, where it was missing before', async () => {
    const away = lacks('table resolves');
    expect(await faultAfter('ALTER TABLE paygrade.resolves RENAME TO aside')).toBe(away);
    const taking = `${RAISE}; ALTER TABLE paygrade.organizations DROP CONSTRAINT organizations_charged_check`;
    expect(await faultAfter(taking)).toBe(away);
    expect(await faultAfter('ALTER TABLE paygrade.aside RENAME TO resolves')).toBeUndefined();
    expect(await faultAfter('ALTER TABLE paygrade.resolves RENAME TO aside')).toBe(away);
    expect(await faultAfter('ALTER TABLE paygrade.aside RENAME TO resolves')).toBeUndefined();
    await client.query('ALTER TABLE paygrade.organizations ADD CHECK (charged >= 0)');
  });

  it('is needed again, once a statement fails for want of what a newer release may have taken away', async () => {
    await client.query('ALTER TABLE paygrade.resolves RENAME TO aside');
    const taking = `${RAISE}; ALTER TABLE paygrade.organizations DROP CONSTRAINT organizations_charged_check`;
    expect(await faultAfter(taking)).toBeUndefined();
    const away = lacks('table resolves');
    expect(await faultAfter('SELECT', true)).toBe(away);
    expect(await faultAfter('SELECT')).toBe(away);
    expect(await faultAfter(RAISE)).toBe(away);
    expect(await faultAfter('ALTER TABLE paygrade.aside RENAME TO resolves')).toBeUndefined();
    // No statement fails for want of the check, whatever else it fails for.
    expect(await faultAfter('SELECT', true)).toBeUndefined();
    await client.query('ALTER TABLE paygrade.organizations ADD CHECK (charged >= 0)');
  });

  it('is not missing where a newer release takes it away during the look', async () => {
    let isMigrated = false;
    await wholeness.look(async (statement) => {
      if (statement.name === 'schema-parts' && !isMigrated) {
        isMigrated = true;
        await client.query(`BEGIN; ${RAISE}; ALTER TABLE paygrade.organizations DROP CONSTRAINT organizations_charged_check;
          COMMIT`);
      }
      return query(statement);
    });
    expect([isMigrated, wholeness.fault]).toEqual([true, undefined]);
    await client.query('ALTER TABLE paygrade.organizations ADD CHECK (charged >= 0)');
  });

  it('is what a newer release leaves, once that has migrated it', async () => {
    expect(await faultAfter(`DROP INDEX paygrade.mine_serial; ${RAISE}`)).toBeUndefined();
    expect(await faultAfter('ALTER TABLE paygrade.claims DROP COLUMN attempt')).toMatch(
      /column attempt of table claims/,
    );
  });

  it('may go missing after a newer release that took nothing away', async () => {
    expect(await faultAfter(`ALTER TABLE paygrade.cases ADD COLUMN newer integer; ${RAISE}`)).toBeUndefined();
    expect(await faultAfter('ALTER TABLE paygrade.cases DROP COLUMN sale')).toMatch(/column sale of table cases/);
  });
});

describe.skipIf(SERVER === undefined)('a database that is not whole when a process starts', () => {
  const lacks = (what: string): string => `the database lacks ${what} in the schema paygrade`;

  it.each([
    [
      'ALTER TABLE paygrade.claims DROP CONSTRAINT claims_pkey',
      'ALTER TABLE paygrade.claims ADD PRIMARY KEY (key)',
      lacks('UNIQUE (key) of table claims'),
    ],
    [
      'ALTER TABLE paygrade.claims ALTER serial DROP IDENTITY',
      // From a time in microseconds on, as a migration has it: the database goes to other tests, whose copied claims have small ones.
      'ALTER TABLE paygrade.claims ALTER serial ADD GENERATED ALWAYS AS IDENTITY (START 2000000000000000)',
      lacks('DEFAULT (serial) of table claims'),
    ],
    [
      'ALTER TABLE paygrade.cases ALTER is_refused DROP DEFAULT',
      'ALTER TABLE paygrade.cases ALTER is_refused SET DEFAULT false',
      lacks('DEFAULT (is_refused) of table cases'),
    ],
    ['ALTER TABLE paygrade.sales RENAME TO aside', 'ALTER TABLE paygrade.aside RENAME TO sales', lacks('table sales')],
    [
      'ALTER FUNCTION paygrade.is_alive RENAME TO aside',
      'ALTER FUNCTION paygrade.aside RENAME TO is_alive',
      lacks('function is_alive(text)'),
    ],
    // As in the first part of a dump.
    [
      'ALTER TABLE paygrade.versions RENAME TO aside',
      'ALTER TABLE paygrade.aside RENAME TO versions',
      lacks('table versions'),
    ],
    // As while the data of a dump are read in, whose table of versions is the last.
    [
      'CREATE TABLE paygrade.aside AS TABLE paygrade.versions; TRUNCATE paygrade.versions',
      'INSERT INTO paygrade.versions SELECT * FROM paygrade.aside; DROP TABLE paygrade.aside',
      lacks('all rows of table versions'),
    ],
    [
      'REVOKE INSERT ON paygrade.sales FROM paygrade_gate',
      'GRANT INSERT ON paygrade.sales TO paygrade_gate',
      'the role paygrade_gate lacks INSERT on table sales in the schema paygrade',
    ],
  ])('is refused by a start and named by doctor: %s', async (take, give, fault) => {
    const database = await testDatabase(SERVER!);
    const operator = new Client({ connectionString: database.url });
    await operator.connect();
    const start = async (): Promise<void> => {
      const backend = await openPostgresBackend(
        { databaseUrl: database.gateUrl, sync: 'normal', callbackBytes: 0, play: undefined, salesKeptMs: 1 },
        { clock: systemClock, timers: systemTimers, random: new Chance(1), onStateFault() {}, onFailure() {} },
      );
      await backend.close();
    };
    const doctor = () =>
      inspectDatabase(
        database.gateUrl,
        { sync: 'normal', stateKey: undefined },
        { clock: systemClock, timers: systemTimers },
      );
    await operator.query(take);
    try {
      await expect(start()).rejects.toEqual(new StateError(fault));
      await expect(doctor()).rejects.toEqual(new StateError(fault));
    } finally {
      await operator.query(give);
      await operator.end();
    }
    await start();
    expect(await doctor()).toMatchObject({ tables: 'current' });
    await database.remove();
  });
});
