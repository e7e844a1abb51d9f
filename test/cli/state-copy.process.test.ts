/** `paygrade state copy` when it refuses (siblings §9): one line on stderr that names the option and the reason, and no password. */
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT_USAGE } from '../../src/cli/command.ts';
import { type OwnServer, startPostgres } from '../support/postgres.ts';
import { suiteFolder, testFolder } from '../support/scratch-folder.ts';
import { runToEnd, startServer } from '../support/server.ts';
import { run } from './captured-io.ts';

const AWAY = 'postgres://shop:hidden-word@127.0.0.1:1/shop';
const EXIT_FAILED = 1;

const database = await startPostgres();
if (database === undefined) console.log('skipping copies into a database: there is no PostgreSQL to start');
afterAll(() => database?.close());

function newFolder(): string {
  const folder = testFolder();
  return folder;
}

/** What a stopped server leaves; each test copies it. */
const left = suiteFolder();
beforeAll(async () => {
  await (await startServer('node', { STATE_DIR: left, LOG_LEVEL: 'error' })).stop();
});

/** The folder of a server that was stopped. */
function stoppedBox(): string {
  const folder = newFolder();
  cpSync(left, folder, { recursive: true });
  return folder;
}

/** In this process, where a start costs nothing. */
async function expectRefusal(
  words: readonly string[],
  exitCode: number,
  line: string | RegExp,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const ran = await run(['state', 'copy', ...words], { env });
  expect(ran.stderr).toMatch(/^paygrade: [^\n]*\n$/);
  const [said] = ran.stderr.slice('paygrade: '.length).split('\n');
  if (typeof line === 'string') expect(said).toBe(line);
  else expect(said).toMatch(line);
  expect(ran.stderr).not.toContain('hidden-word');
  expect([ran.exitCode, ran.stdout]).toEqual([exitCode, '']);
}

describe('state copy', () => {
  it('asks for a folder and for a database', async () => {
    await expectRefusal(['--to', AWAY], EXIT_USAGE, '--from is missing, for example --from DIR');
    await expectRefusal(['--from', '', '--to', AWAY], EXIT_USAGE, '--from must not be empty');
    await expectRefusal(['--from', newFolder()], EXIT_USAGE, 'name the database with --to or DATABASE_URL');
  });

  it.each([
    ['no address', 'hidden-word', /^NAME must be an address like postgres:\/\//],
    ['another kind of database', 'mysql://shop:hidden-word@db/shop', /^NAME must begin with postgres:\/\//],
    ['an unknown mode of TLS', `${AWAY}?sslmode=prefer`, /^NAME: sslmode must be one of disable, require/],
    ['an unknown parameter', `${AWAY}?pool=3`, /^NAME: unknown parameter "pool"; known are sslmode/],
    [
      'a certificate that is not there',
      `${AWAY}?sslmode=verify-full&sslrootcert=/none.pem`,
      /^NAME: sslrootcert "\/none/,
    ],
    ['a broken percent encoding', 'postgres://shop:hidden-word%zz@db/shop', /^NAME /],
  ])('names the option or variable of %s', async (_, address, line) => {
    const folder = newFolder();
    const named = (name: string): RegExp => new RegExp(line.source.replace('NAME', name));
    await expectRefusal(['--from', folder, '--to', address], EXIT_USAGE, named('--to'));
    await expectRefusal(['--from', folder], EXIT_USAGE, named('DATABASE_URL'), { DATABASE_URL: address });
  });

  it('names the folder that holds no sound state', async () => {
    const folder = newFolder();
    const refused = (path: string, line: string): Promise<void> =>
      expectRefusal(['--from', path, '--to', AWAY], EXIT_FAILED, line);
    await refused(join(folder, 'none'), `--from: there is no folder ${join(folder, 'none')}`);
    writeFileSync(join(folder, 'file'), '');
    await refused(join(folder, 'file'), `--from: there is no folder ${join(folder, 'file')}`);
    const empty = join(folder, 'empty');
    mkdirSync(empty);
    await refused(empty, `--from: ${empty} holds no state`);
    const box = stoppedBox();
    const closed = newFolder();
    mkdirSync(join(closed, 'lock'));
    await refused(
      closed,
      `--from: ${closed} cannot be used: ${join(closed, 'lock')} is a folder, not a file; remove it`,
    );
    const key = join(box, 'state-key');
    cpSync(key, join(folder, 'state-key'));
    writeFileSync(key, 'no key');
    await refused(box, `--from: ${key} holds no key of 32 bytes as base64; set STATE_KEY, or remove it`);
    cpSync(join(folder, 'state-key'), key);
    const payee = join(box, 'pay-to');
    writeFileSync(payee, '0x12');
    await refused(box, `--from: ${payee} holds no address; remove it or set PAY_TO`);
    rmSync(payee);
    mkdirSync(payee);
    await refused(box, `--from: ${box} cannot be used: ${payee} is a folder, not a file; remove it`);
    writeFileSync(join(box, 'state.json'), '{');
    await refused(box, `--from: the state of ${box} is damaged (state.json)`);
    rmSync(join(box, 'state.json'));
    await refused(box, `--from: ${box} holds a copy without its state.json: start a server on it once`);
  });

  it('says that a server uses the folder', async () => {
    const server = await startServer('node', { LOG_LEVEL: 'error' });
    const line = `--from: a server uses ${server.stateDir}: stop it first`;
    await expectRefusal(['--from', server.stateDir, '--to', AWAY], EXIT_FAILED, line);
    expect((await server.fetch('/health')).status).toBe(200);
    await server.stop();
  });

  it('names the database that cannot be reached, and leaves the folder as it is', async () => {
    const box = stoppedBox();
    const line = /^--to: the database 127\.0\.0\.1:1\/shop cannot be used: .*ECONNREFUSED/;
    await expectRefusal(['--from', box, '--to', AWAY], EXIT_FAILED, line);
    await (await startServer('node', { STATE_DIR: box, LOG_LEVEL: 'error' })).stop();
  });

  it.skipIf(database === undefined).each([
    ['state copy', (box: string) => ['state', 'copy', '--from', box]],
    ['credits grant', () => ['credits', 'grant', '--org', 'acme', '--kind', 'onboarding', '--amount', '5']],
  ])('%s waits for a process that makes the tables', async (_, words) => {
    const url = await (database as OwnServer).freshUrl();
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(`CREATE SCHEMA paygrade;
      CREATE TABLE paygrade.versions (domain text PRIMARY KEY, version integer NOT NULL);
      CREATE TABLE paygrade.migrating (id integer PRIMARY KEY CHECK (id = 1), owner text NOT NULL, until_ms bigint NOT NULL);
      INSERT INTO paygrade.migrating VALUES (1, 'dead', (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 3000)`);
    await client.end();
    const run = runToEnd('node', words(stoppedBox()), { DATABASE_URL: url });
    expect([run.exitCode, run.stderr]).toEqual([0, expect.not.stringContaining('await')]);
  });

  it.skipIf(database === undefined)(
    'names the database that is not empty, and the folder that was copied',
    async () => {
      const to = await (database as OwnServer).freshUrl();
      const box = stoppedBox();
      const variables = { DATABASE_URL: to };
      const granted = ['credits', 'grant', '--org', 'acme', '--kind', 'onboarding', '--amount', '5'];
      expect(runToEnd('node', ['state', 'copy', '--from', box], variables).exitCode).toBe(0);
      await expectRefusal(
        ['--from', box, '--to', to],
        EXIT_FAILED,
        `--from: the state of ${box} was copied to a database already`,
      );
      expect(runToEnd('node', granted, variables).exitCode).toBe(0);
      const other = stoppedBox();
      const line = 'DATABASE_URL: the database is not empty: copy into an empty one';
      await expectRefusal(['--from', other], EXIT_FAILED, line, variables);
      await (await startServer('node', { STATE_DIR: other, LOG_LEVEL: 'error' })).stop();
    },
  );
});
