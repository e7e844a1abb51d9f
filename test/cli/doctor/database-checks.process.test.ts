/** What `doctor` says of the database that processes share: all that keeps a server from starting or selling there. */
import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { CONFIGURATION } from '../../../src/app/configuration.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { checkDatabase } from '../../../src/cli/doctor/database-checks.ts';
import { Findings } from '../../../src/cli/doctor/finding.ts';
import { openPostgresBackend } from '../../../src/storage/postgres/backend.ts';
import { Chance } from '../../support/chance.ts';
import { SERVER, testDatabase } from '../../support/postgres-database.ts';

const KEY = Buffer.alloc(32, 1).toString('base64');
const OTHER_KEY = Buffer.alloc(32, 2).toString('base64');

async function foundAt(
  url: string,
  variables: Readonly<Record<string, string | undefined>> = {},
  aheadMs = 0,
): Promise<string[]> {
  const config = CONFIGURATION.read({ DATABASE_URL: url, STATE_KEY: KEY, STATE_SYNC: 'normal', ...variables });
  const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs };
  const findings = new Findings('state');
  await checkDatabase(findings, url, config, clock);
  return findings.all.map(({ verdict, found }) => `${verdict}: ${found}`);
}

describe.skipIf(SERVER === undefined)('doctor with DATABASE_URL', () => {
  it('counts the servers on the database, and names what would keep another one from it', async () => {
    const { url, remove } = await testDatabase(SERVER!);
    const stateKey = new Uint8Array(32).fill(1);
    const server = await openPostgresBackend(
      { databaseUrl: url, sync: 'normal', callbackBytes: 0, play: undefined, salesKeptMs: 1, stateKey },
      { clock: systemClock, timers: systemTimers, random: new Chance(1), onStateFault() {}, onFailure() {} },
    );
    expect(await foundAt(url)).toEqual([expect.stringMatching(/^ok: the database .* can be used; servers on it: 1$/)]);
    expect(await foundAt(url, { STATE_KEY: OTHER_KEY })).toEqual([
      expect.stringMatching(/^mend: STATE_KEY is not the key that the database/),
    ]);
    expect(await foundAt(url, {}, 300_000)).toEqual([
      expect.stringMatching(/^mend: the clock of this machine is 300\.\d s ahead of the database's$/),
    ]);
    await server.close();
    await remove();
  });

  it('leaves an empty database empty', async () => {
    const url = await SERVER!.freshUrl();
    for (let look = 0; look < 2; look++) {
      expect(await foundAt(url)).toEqual([
        expect.stringMatching(/^ok: the database .* is empty: the first start makes its tables$/),
      ]);
    }
    await SERVER!.drop(url);
  });

  it('leaves the tables of an older release to the next start', async () => {
    const url = await SERVER!.freshUrl();
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(`CREATE SCHEMA paygrade; CREATE TABLE paygrade.versions (domain text, version integer);
      INSERT INTO paygrade.versions VALUES ('clock', 1)`);
    await client.end();
    expect(await foundAt(url)).toEqual([
      expect.stringMatching(/^ok: the database .* has the tables of an older release/),
    ]);
    await SERVER!.drop(url);
  });

  it('says that a database cannot be reached, without its password', async () => {
    expect(await foundAt('postgres://ann:s3cret@127.0.0.1:1/shop')).toEqual([
      expect.stringMatching(/^mend: the database 127\.0\.0\.1:1\/shop cannot be used: connect ECONNREFUSED/),
    ]);
  });
});
