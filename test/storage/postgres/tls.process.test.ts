/** TLS to a PostgreSQL server with a certificate of an authority of our own (siblings §9): who is believed, and what is logged. */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, copyFileSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OwnServer, startPostgres } from '../../support/postgres.ts';
import { oneRuntime, runToEnd, startServer } from '../../support/server.ts';
import { partOf } from '../../support/whole.ts';

const PASSWORD = 'a-password-that-no-line-may-show';
const STATE_KEY = Buffer.alloc(32, 3).toString('base64');

const folder = mkdtempSync(join(tmpdir(), 'paygrade-tls-'));
const file = (name: string): string => join(folder, name);
const openssl = (...words: string[]): void => {
  execFileSync('openssl', words, { cwd: folder, stdio: 'ignore' });
};

/** Keys of it are made at once. */
const CURVE = 'ec_paramgen_curve:prime256v1';

/** An authority, and a certificate of it for a name. */
function makeAuthority(name: string): void {
  const subject = ['-subj', `/CN=${name}`];
  openssl(
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    CURVE,
    '-nodes',
    '-days',
    '2',
    ...subject,
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.crt`,
  );
}

function makeCertificate(authority: string, host: string): void {
  writeFileSync(file('names.txt'), `subjectAltName=${host}\n`);
  openssl(
    'req',
    '-newkey',
    'ec',
    '-pkeyopt',
    CURVE,
    '-nodes',
    '-subj',
    '/CN=server',
    '-keyout',
    'server.key',
    '-out',
    'server.csr',
  );
  const signed = ['-CA', `${authority}.crt`, '-CAkey', `${authority}.key`, '-CAcreateserial', '-extfile', 'names.txt'];
  openssl('x509', '-req', '-in', 'server.csr', '-days', '2', ...signed, '-out', 'server.crt');
}

async function startWithTls(): Promise<OwnServer | undefined> {
  try {
    makeAuthority('ours');
    makeAuthority('other');
    makeCertificate('ours', 'DNS:localhost');
  } catch {
    console.log('skipping TLS to PostgreSQL: there is no openssl');
    return undefined;
  }
  return startPostgres();
}

const database = await startWithTls();

describe.skipIf(database === undefined)('TLS to PostgreSQL', () => {
  const server = database as OwnServer;
  let name = '';
  const asked = async (...texts: string[]): Promise<unknown[]> => {
    const client = new Client({ connectionString: `postgres://postgres@127.0.0.1:${server.port}/postgres` });
    await client.connect();
    const rows: unknown[] = [];
    for (const text of texts) rows.push(...(await client.query(text)).rows);
    await client.end();
    return rows;
  };
  beforeAll(async () => {
    name = new URL(await server.freshUrl()).pathname;
    const { uid, gid } = statSync(server.folder);
    for (const one of ['server.key', 'server.crt']) {
      const path = join(server.folder, one);
      copyFileSync(file(one), path);
      chmodSync(path, 0o600);
      chownSync(path, uid, gid);
    }
    // The user of the processes comes in over TLS only, and with a password.
    const rules = ['host all postgres 127.0.0.1/32 trust', 'hostssl all paygrade 127.0.0.1/32 scram-sha-256', ''];
    writeFileSync(join(server.folder, 'pg_hba.conf'), rules.join('\n'));
    await asked(
      `CREATE ROLE paygrade LOGIN PASSWORD '${PASSWORD}'`,
      `GRANT ALL ON DATABASE ${name.slice(1)} TO paygrade`,
      'ALTER SYSTEM SET ssl = on',
      'SELECT pg_reload_conf()',
    );
  });
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const urlOf = (host: string, query: string): string =>
    `postgres://paygrade:${PASSWORD}@${host}:${server.port}${name}?${query}`;
  const variablesOf = (url: string): Record<string, string> => ({
    DATABASE_URL: url,
    STATE_KEY,
    STATE_SYNC: 'normal',
    LOG_LEVEL: 'debug',
  });

  it.each(oneRuntime('node'))(
    'serves with a certificate of the named authority, and logs no password, under %s',
    async (runtime) => {
      const url = urlOf('localhost', `sslmode=verify-full&sslrootcert=${file('ours.crt')}`);
      const started = await startServer(runtime, variablesOf(url));
      try {
        expect((await started.fetch('/ready')).status).toBe(200);
        const text = `SELECT pid FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE ssl AND datname = '${name.slice(1)}'`;
        expect((await asked(text)).length).toBeGreaterThan(0);
      } finally {
        expect(await started.stop()).toBe(0);
      }
      expect(started.stdout() + started.stderr()).not.toContain(PASSWORD);
    },
  );

  const refused: readonly (readonly [what: string, host: string, query: () => string, reason: RegExp])[] = [
    ['another authority', 'localhost', () => `sslmode=verify-full&sslrootcert=${file('other.crt')}`, /certificate/],
    [
      'a name that is not in it',
      '127.0.0.1',
      () => `sslmode=verify-full&sslrootcert=${file('ours.crt')}`,
      /altnames|IP/,
    ],
    ['the authorities of the system', 'localhost', () => 'sslmode=verify-full', /certificate/],
    ['no TLS', 'localhost', () => 'sslmode=disable', /pg_hba|no encryption/],
  ];

  it.each(refused.slice(0, partOf(refused.length, 2)))(
    'ends a start at once at a server with %s, in one line without the password',
    (_, host, query, reason) => {
      const { exitCode, stdout, stderr } = runToEnd('node', ['serve'], {
        ...variablesOf(urlOf(host, query())),
        PORT: '0',
      });
      expect(exitCode).toBe(1);
      expect(stderr.trim().split('\n')).toHaveLength(1);
      expect(stderr).toMatch(reason);
      expect(stdout + stderr).not.toContain(PASSWORD);
    },
  );

  it('ends a start with a wrong password at once, in one line without it', () => {
    const right = urlOf('localhost', `sslmode=verify-full&sslrootcert=${file('ours.crt')}`);
    const wrong = right.replace(PASSWORD, 'another-secret-word');
    const { exitCode, stdout, stderr } = runToEnd('node', ['serve'], { ...variablesOf(wrong), PORT: '0' });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('password authentication failed');
    expect(stdout + stderr).not.toContain('another-secret-word');
  });
});
