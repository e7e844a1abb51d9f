/** Starts that `serve` refuses: exit code, stream and one line (decisions §2; reliability 112, 250, 251, 260, 271). */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CHECKED_FIRST_BYTES_MAX } from '../../src/catalogue/limits.ts';
import { headerOf } from '../support/altered-snapshot.ts';
import { catalogueFolder } from '../support/catalogue-folder.ts';
import { minimalJob } from '../support/minimal-job.ts';
import { bytesOfJobs } from '../support/opened-jobs.ts';
import { binaryOf, type Ended, MAIN, oneRuntime, RUNTIMES, type Runtime, startProcess } from '../support/server.ts';
import { until } from '../support/until.ts';
import { IS_WHOLE } from '../support/whole.ts';

const { folder, goodFile } = catalogueFolder();

/** `serve` that is expected to end by itself. */
function serveToEnd(
  runtime: Runtime,
  variables: Record<string, string>,
  flags: readonly string[] = [],
): Promise<Ended> {
  const settings = { PORT: '0', STATE_DIR: ':memory:', ...variables };
  const { child, ended } = startProcess(binaryOf(runtime), [MAIN, 'serve', ...flags], settings);
  child.stdout.on('data', (text: string) => {
    if (text.includes('listening on')) child.kill('SIGKILL');
  });
  return ended;
}

type BadStart = readonly [what: string, variables: Record<string, string>, flags: readonly string[], named: string];
const variable = (name: string, ...values: string[]): BadStart[] =>
  values.map((value) => [`${name}=${value}`, { [name]: value }, [], name]);
const flags = (named: string, ...words: string[]): BadStart => [words.join(' '), {}, words, named];

const EVERY_BAD_START: readonly BadStart[] = [
  ...variable('HOST', ' '),
  ...variable('PORT', '65536', 'http'),
  ...variable('BASE_URL', 'shop.example', 'ftp://shop.example'),
  ...variable('HOOK_BASE_URL', 'https://hooks.example/?a=1'),
  ...variable('SNAPSHOT', ''),
  ...variable('STATE_DIR', ''),
  ...variable('PAY_TO', '0x1234', '0x209693bc6afc0C5328bA36FaF03C514EF312287C'),
  ...variable('SETTLEMENT', 'Local'),
  ...variable('NETWORK', 'base'),
  ...variable('PRICES', 'search=0', 'search=-0.02', 'search=0.0000001'),
  ...variable('FACILITATOR_URL', 'facilitator'),
  ...variable('FACILITATOR_TOKEN', ' '),
  ...variable('LOCAL_BALANCE', '-1'),
  ...variable('RATE_LIMIT_PER_MINUTE', '1.5'),
  ...variable('TRUST_PROXY', 'yes'),
  ...variable('CALLBACK_BYTES', '-1'),
  ...variable('CORS_ORIGIN', 'https://app.example/'),
  ...variable('LOG_LEVEL', 'loud'),
  ['SETTLEMENT=facilitator without FACILITATOR_URL', { SETTLEMENT: 'facilitator' }, [], 'FACILITATOR_URL'],
  [
    'SETTLEMENT=facilitator without PAY_TO',
    { SETTLEMENT: 'facilitator', FACILITATOR_URL: 'http://127.0.0.1:9' },
    [],
    'PAY_TO',
  ],
  flags('PORT', '--port', '70000'),
  flags('--prot', '--prot', '1'),
  flags('--port', '--port'),
  flags('--port', '--port=1', '--port=2'),
  flags('extra', 'extra'),
  flags('-p', '-p', '1'),
];

const BAD_STARTS = EVERY_BAD_START.filter((_, index) => IS_WHOLE || index % 3 === 0);

/** Too long to be checked before the server listens, with a wrong byte in the last of its descriptions. */
function longDamagedFile(): Buffer {
  const texts = Array.from({ length: 2_000 }, () => randomBytes(9_000).toString('base64'));
  const bytes = bytesOfJobs(texts.map((description, i) => minimalJob({ id: String(i), description })));
  expect(bytes.length).toBeGreaterThan(CHECKED_FIRST_BYTES_MAX);
  const { byteLength, offset } = headerOf(bytes).sections.find(({ name }) => name === 'descriptionBlocks')!;
  bytes[offset + byteLength - 1]! ^= 1;
  return bytes;
}

/** Bun reads them all in the slow run; otherwise each runtime that is tried reads the two that take different ways. */
const DAMAGES: readonly (readonly [what: string, damage: (good: Uint8Array) => Uint8Array | undefined])[] = [
  ['is missing', () => undefined],
  ['is empty', () => new Uint8Array(0)],
  ['is cut in half', (bytes: Uint8Array) => bytes.subarray(0, bytes.length >> 1)],
  ['lacks its last byte', (bytes: Uint8Array) => bytes.subarray(0, -1)],
  ['has a byte more', (bytes: Uint8Array) => Buffer.concat([bytes, Buffer.from([0])])],
  [
    'has one bit flipped in the middle',
    (bytes: Uint8Array) => bytes.map((byte, i) => (i === bytes.length >> 1 ? byte ^ 1 : byte)),
  ],
  ['is something else', () => Buffer.from('{"id":"1"}\n')],
];

describe('a start that is refused', () => {
  // What is checked is ours and not the runtime's, and Node takes a second to start: it runs every sixth row, Bun the rest.
  it.each(BAD_STARTS.map((row, index) => [row[0], RUNTIMES[index % 6 === 0 ? 0 : 1], row] as const))(
    '%s is exit code 2 and one line (%s) (reliability 112, 271)',
    async (_, runtime, [, variables, words, named]) => {
      const { exitCode, stdout, stderr } = await serveToEnd(runtime, variables, words);
      expect(stderr).toMatch(/^paygrade: [^\n]+\n$/);
      expect(stderr).toContain(named);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    },
  );

  it('a flag wins over its variable', async () => {
    const { exitCode, stderr } = await serveToEnd('bun', { LOG_LEVEL: 'info' }, ['--log-level', 'loud']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('loud');
  });

  describe.each(oneRuntime('bun'))('under %s', (runtime) => {
    it.each(DAMAGES.filter(([what]) => (IS_WHOLE && runtime === 'bun') || /missing|flipped/.test(what)))(
      'a catalogue file that %s is exit code 1 and one line (reliability 250, 251)',
      async (what, damage) => {
        const file = join(folder, `${runtime}-${what.replaceAll(' ', '-')}.snap`);
        const bytes = damage(readFileSync(goodFile));
        if (bytes !== undefined) writeFileSync(file, bytes);
        const { exitCode, stdout, stderr } = await serveToEnd(runtime, { SNAPSHOT: file });
        expect(stderr).toMatch(/^paygrade: [^\n]+\n$/);
        expect(stderr).toContain(`SNAPSHOT ${file}: `);
        expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
      },
    );

    it('a long catalogue file that is damaged behind its columns is exit code 1 and one line, after it listens (reliability 251)', async () => {
      const file = join(folder, `${runtime}-long.snap`);
      writeFileSync(file, longDamagedFile());
      const settings = { PORT: '0', STATE_DIR: ':memory:', SNAPSHOT: file };
      const { exitCode, stdout, stderr } = await startProcess(binaryOf(runtime), [MAIN, 'serve'], settings).ended;
      expect(stdout).toMatch(/^listening on \S+\n$/);
      expect(stderr.split('\n').filter((line) => line.startsWith('paygrade: '))).toEqual([
        `paygrade: ${file}: is damaged in section descriptionBlocks (checksum)`,
      ]);
      expect(exitCode).toBe(1);
    });

    it('a folder for a catalogue is exit code 1 and one line (reliability 260)', async () => {
      const { exitCode, stderr } = await serveToEnd(runtime, { SNAPSHOT: folder });
      expect(stderr).toMatch(/^paygrade: [^\n]+\n$/);
      expect(exitCode).toBe(1);
    });

    it('a state folder that cannot be one is exit code 1 and one line (reliability 269)', async () => {
      for (const stateDir of [goodFile, join(goodFile, 'below-a-file'), '/proc/no-folder-can-be-made-here']) {
        const { exitCode, stdout, stderr } = await serveToEnd(runtime, { STATE_DIR: stateDir });
        expect(stderr).toMatch(/^paygrade: STATE_DIR [^\n]+\n$/);
        expect(stderr).toContain(stateDir);
        expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
      }
    });

    it('a host that is no address is exit code 2, one of another machine 1, and one line names it', async () => {
      // An address that is not there yet may come; one that cannot be is wrong for ever.
      for (const [host, code] of [
        ['192.0.2.1', 1],
        ['256.1.1.1', 2],
      ] as const) {
        const { exitCode, stdout, stderr } = await serveToEnd(runtime, { HOST: host });
        expect(stderr).toMatch(/^paygrade: [^\n]*HOST[^\n]+\n$/);
        expect(stderr).toContain(host);
        expect({ exitCode, stdout }).toEqual({ exitCode: code, stdout: '' });
      }
    });

    it('a database without STATE_KEY is exit code 2 before the database is asked', async () => {
      const { exitCode, stdout, stderr } = await serveToEnd(runtime, { DATABASE_URL: 'postgres://127.0.0.1:1/none' });
      expect(stderr).toMatch(/^paygrade: STATE_KEY is required with DATABASE_URL[^\n]+\n$/);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    });

    it('while it waits for its database every path is 503, and says when to come again, also to browsers', async () => {
      const listenAnywhere = (server: Server): Promise<number> =>
        new Promise((resolve) =>
          server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port)),
        );
      // Accepts connections and says nothing.
      const database = createServer();
      const reserved = createServer();
      const port = await listenAnywhere(reserved);
      await new Promise((resolve) => reserved.close(resolve));
      const { child, exited } = startProcess(binaryOf(runtime), [MAIN, 'serve'], {
        PORT: String(port),
        DATABASE_URL: `postgres://paygrade@127.0.0.1:${await listenAnywhere(database)}/none`,
        STATE_KEY: randomBytes(32).toString('base64'),
        SNAPSHOT: 'none',
        CORS_ORIGIN: 'https://app.example',
      });
      try {
        for (const [path, origin] of [
          ['/health', 'https://app.example'],
          ['/v1/callbacks', 'https://app.example'],
          ['/admin/v1/keys', null], // no other origin may read the operator's paths
        ] as const) {
          let answer: Response | undefined;
          await until('it listens', async () => {
            answer = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined);
            return answer !== undefined;
          });
          expect([answer?.status, answer?.headers.get('retry-after')]).toEqual([503, '1']);
          expect(answer?.headers.get('access-control-allow-origin')).toBe(origin);
          expect(await answer?.json()).toMatchObject({ error: { code: 'STATE_UNAVAILABLE' } });
        }
      } finally {
        child.kill('SIGKILL');
        await exited;
        database.close();
      }
    });

    it('a port in use is exit code 1 and one line (reliability 271)', async () => {
      const other = createServer();
      const port = await new Promise<number>((resolve) =>
        other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port)),
      );
      const { exitCode, stdout, stderr } = await serveToEnd(runtime, { PORT: String(port) });
      expect(stderr).toMatch(/^paygrade: [^\n]*port is in use; --port [^\n]+\n$/);
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
      await new Promise((resolve) => other.close(resolve));
    });
  });
});
