/** `doctor`: what it finds wrong, what it finds good, and that it says what to do; each fault beside its sound twin. */
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemTimers } from '../../src/adapters/process/system-timers.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { Finding } from '../../src/cli/doctor/finding.ts';
import { openSqliteState } from '../../src/storage/sqlite/state.ts';
import { scriptedService, sending } from '../adapters/engine/scripted-service.ts';
import { FakeFacilitator, type Step } from '../support/fake-facilitator.ts';
import { SALES_KEPT_MS } from '../support/sale.ts';
import { suiteFolder } from '../support/scratch-folder.ts';
import { NOW_MS, type Ran, run } from './captured-io.ts';

const folder = suiteFolder();

const PAY_TO = '0x1111111111111111111111111111111111111111';
const FREE_PORT = '0';

interface Report {
  readonly ok: boolean;
  readonly findings: readonly Finding[];
}

/** Settings as flags over good ones. */
async function examine(
  settings: Readonly<Record<string, string>> = {},
  nowMs = Date.now(),
): Promise<Ran & { report: Report }> {
  const all = { port: FREE_PORT, snapshot: 'none', 'state-dir': join(folder, 'none'), ...settings };
  const words = Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]);
  const ran = await run(['doctor', '--json', ...words], { nowMs });
  return { ...ran, report: JSON.parse(ran.stdout) as Report };
}

const of = ({ findings }: Report, check: string): Finding[] => findings.filter((finding) => finding.check === check);
const wordsOf = (report: Report, check: string): string[] =>
  of(report, check).map(({ verdict, found }) => `${verdict}: ${found}`);

async function madeState(name: string): Promise<string> {
  const stateDir = join(folder, name);
  const options = { stateDir, sync: 'full', isPlay: true, mayReset: false, salesKeptMs: SALES_KEPT_MS } as const;
  const state = await openSqliteState(options, { clock: systemClock, timers: systemTimers, onStateFault: () => {} });
  await state.close();
  return stateDir;
}

describe('doctor', () => {
  it('finds nothing to fix with good settings', async () => {
    const { exitCode, report, stderr } = await examine();
    expect([exitCode, report.ok, stderr]).toEqual([0, true, '']);
    expect(report.findings.every(({ verdict }) => verdict !== 'mend')).toBe(true);
    const checks = new Set(report.findings.map(({ check }) => check));
    expect([...checks].sort()).toEqual([
      'boards',
      'configuration',
      'engine',
      'facilitator',
      'offers',
      'payTo',
      'port',
      'public',
      'snapshot',
      'state',
    ]);
  });

  it('asks the jobs services of a gate, and looks at the head of a catalogue behind an address', async () => {
    const token = 'token-between-gates-and-services-0123456789';
    const service = await scriptedService(sending(200, '{}', { etag: '"a"' }), token);
    const settings = { 'engine-url': service.url, 'engine-token': token };
    expect(wordsOf((await examine(settings)).report, 'engine')).toEqual([`ok: ${service.url} answers`]);
    const stranger = await examine({ ...settings, 'engine-token': `${token}x` });
    expect(wordsOf(stranger.report, 'engine')).toEqual([`mend: ${service.url} refuses the token (401)`]);
    const address = { snapshot: `${service.url}/jobs.snapshot?secret=1`, 'engine-token': token, surfaces: 'none' };
    const { report } = await examine(address);
    expect(wordsOf(report, 'snapshot')).toEqual([`mend: ${service.url}/jobs.snapshot answers 401`]);
    expect(wordsOf(report, 'engine')).toEqual(['ok: a jobs service; it sells nothing itself']);
    await service.close();
    expect(wordsOf((await examine(settings)).report, 'engine')).toEqual([
      expect.stringContaining(`mend: ${service.url} cannot be asked: `),
    ]);
  });

  it('names every variable that cannot be used, and ends with 1', async () => {
    const { exitCode, report } = await examine({ port: '70000', settlement: 'bank', 'pay-to': '0x12' });
    expect(exitCode).toBe(1);
    const faults = of(report, 'configuration').map(({ found }) => found.split(' ')[0]);
    expect(faults.sort()).toEqual(['PAY_TO', 'PORT', 'SETTLEMENT']);
  });

  it.each([
    [['--nope'], /unknown option --nope/],
    [['extra'], /unexpected argument "extra"/],
  ])('called with %j it ends with 2', async (words, message) => {
    const { exitCode, stderr } = await run(['doctor', ...words]);
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(message)]);
  });

  it('tells people on stderr, with the remedy under each thing to fix', async () => {
    const { exitCode, stdout, stderr } = await run([
      'doctor',
      '--port',
      FREE_PORT,
      '--snapshot',
      join(folder, 'nowhere.snap'),
      '--state-dir',
      ':memory:',
    ]);
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^FIX {3}snapshot +\S.*nowhere\.snap.*\n +-> set SNAPSHOT/m);
    expect(stderr).toMatch(/\n1 to fix\n$/);
  });
});

describe('doctor on the catalogue', () => {
  const file = join(folder, 'jobs.snap');
  beforeAll(async () => {
    const lines = readFileSync(new URL('../../data/sample.jsonl', import.meta.url));
    expect((await run(['snapshot', 'build', '--out', file], { stdin: lines })).exitCode).toBe(0);
  });

  it('says how much is in it and how old it is', async () => {
    const { exitCode, report } = await examine({ snapshot: file }, NOW_MS + 60 * 86_400_000);
    expect(exitCode).toBe(0);
    expect(wordsOf(report, 'snapshot')[0]).toMatch(/^ok: \d+ jobs, \d+ active, .* built 60\.\d days ago$/);
    expect(wordsOf(report, 'snapshot')).toContainEqual(
      expect.stringMatching(/^note: the newest observation is \d+\.\d days old, outside the period/),
    );
  });

  it.each([
    ['one that is cut', (path: string) => truncateSync(path, 200)],
    [
      'one that is altered',
      (path: string) => {
        const bytes = readFileSync(path);
        bytes[bytes.length - 20]! ^= 1;
        writeFileSync(path, bytes);
      },
    ],
    ['a text', (path: string) => writeFileSync(path, 'jobs')],
  ])('%s must be mended', async (_, spoil) => {
    const path = join(folder, 'spoilt.snap');
    copyFileSync(file, path);
    spoil(path);
    const { exitCode, report } = await examine({ snapshot: path });
    expect(exitCode).toBe(1);
    expect(wordsOf(report, 'snapshot')).toEqual([expect.stringMatching(/^mend: .*spoilt\.snap/)]);
  });

  it('does not let the sample be sold for money', async () => {
    const money = { settlement: 'facilitator', 'facilitator-url': 'http://127.0.0.1:1', 'pay-to': PAY_TO };
    const { report } = await examine({ ...money, snapshot: 'sample' });
    expect(wordsOf(report, 'snapshot')).toEqual([
      expect.stringMatching(/^mend: the built-in sample is sold for real money/),
    ]);
    expect(wordsOf((await examine({ snapshot: 'sample' })).report, 'snapshot')).toEqual([
      expect.stringMatching(/^note: /),
    ]);
  });
});

it('doctor groups the digits of what a catalogue holds, as every command does', async () => {
  const snapshot = join(folder, 'thousands.snapshot');
  await run(['snapshot', 'synth', '--jobs', '1200', '--seed', '1', '--out', snapshot]);
  expect(wordsOf((await examine({ snapshot })).report, 'snapshot')[0]).toMatch(
    /^ok: 1,200 jobs, (?:1,)?\d{3} active, /,
  );
});

describe('doctor on the state', () => {
  it('notes a file that others may read, and only where its folder lets them in', async () => {
    const stateDir = await madeState('open');
    chmodSync(join(stateDir, 'state.db'), 0o644);
    expect(JSON.stringify((await examine({ 'state-dir': stateDir })).report)).not.toContain('other users');
    chmodSync(stateDir, 0o755);
    expect(JSON.stringify((await examine({ 'state-dir': stateDir })).report)).toMatch(/other users .*chmod 600/);
  });

  let sound: string;
  beforeAll(async () => {
    sound = await madeState('sound');
  });

  it('finds a closed one sound, an absent one no fault, and leaves both as they are', async () => {
    const before = readFileSync(join(sound, 'state.db'));
    expect(wordsOf((await examine({ 'state-dir': sound })).report, 'state')[1]).toMatch(/^ok: sound, /);
    expect(readFileSync(join(sound, 'state.db')).equals(before)).toBe(true);
    const absent = join(folder, 'not', 'yet');
    expect(wordsOf((await examine({ 'state-dir': absent })).report, 'state')[1]).toMatch(
      /^ok: .* does not exist: the first start creates it/,
    );
    expect(() => readFileSync(absent)).toThrow('ENOENT');
  });

  it('sees that another process uses it, and does not disturb that', async () => {
    const stateDir = await madeState('used');
    const lock = new DatabaseSync(join(stateDir, 'lock'));
    lock.exec('BEGIN EXCLUSIVE');
    const { exitCode, report } = await examine({ 'state-dir': stateDir });
    lock.close();
    expect(exitCode).toBe(0);
    expect(wordsOf(report, 'state')[1]).toBe(`ok: in use by process ${process.pid}, which reports its own faults`);
  });

  it.each([
    ['a missing file', (dir: string) => rmSync(join(dir, 'state.db')), /is missing, although the folder had one/],
    [
      'a damaged page',
      (dir: string) => {
        const bytes = readFileSync(join(dir, 'state.db'));
        bytes.fill(0x5a, 4096, 12_288);
        writeFileSync(join(dir, 'state.db'), bytes);
      },
      /state\.db: /,
    ],
    [
      'a file of something else',
      (dir: string) => writeFileSync(join(dir, 'state.db'), 'x'.repeat(8192)),
      /state\.db: file is not a database/,
    ],
    ['an unreadable note', (dir: string) => writeFileSync(join(dir, 'state.json'), '{'), /state\.json is damaged/],
    [
      'an older copy',
      (dir: string) => writeFileSync(join(dir, 'state.json'), '{"generation":9,"sync":"full"}'),
      /it is an older copy/,
    ],
  ] as const)('%s must be mended', async (name, spoil, reason) => {
    const stateDir = join(folder, name.replaceAll(' ', '-'));
    cpSync(sound, stateDir, { recursive: true });
    spoil(stateDir);
    const { exitCode, report } = await examine({ 'state-dir': stateDir });
    expect(exitCode).toBe(1);
    const [finding] = of(report, 'state').filter(({ verdict }) => verdict === 'mend');
    expect(finding?.found).toMatch(reason);
    expect(finding?.mend).toContain('STATE_RESET=true');
  });

  it('says of a restored copy, closed or not, that a start refuses older payments for a time', async () => {
    const stateDir = join(folder, 'restored');
    mkdirSync(stateDir);
    copyFileSync(join(sound, 'state.db'), join(stateDir, 'state.db'));
    const notes = async (): Promise<string[]> => {
      const { exitCode, report } = await examine({ 'state-dir': stateDir });
      expect(exitCode).toBe(0);
      return wordsOf(report, 'state').filter((words) => words.includes('restored or copied'));
    };
    const note = expect.stringMatching(/^note: .*for 150 s after its first start, the server sells nothing/);
    expect(await notes()).toEqual([note]);
    writeFileSync(join(stateDir, 'state.db-wal'), 'begun');
    expect(await notes()).toEqual([note]);
    copyFileSync(join(sound, 'state.json'), join(stateDir, 'state.json'));
    expect(await notes()).toEqual([]);
  });

  it.each(['moving', 'moved'])('one that was copied to a database is not to be reset beside it: %s', async (moved) => {
    const stateDir = join(folder, moved);
    cpSync(sound, stateDir, { recursive: true });
    writeFileSync(join(stateDir, 'state.json'), JSON.stringify({ generation: 1, sync: 'full', moved }));
    const { report } = await examine({ 'state-dir': stateDir });
    expect(of(report, 'state').filter(({ verdict }) => verdict === 'mend')).toEqual([
      {
        check: 'state',
        verdict: 'mend',
        found: `the state of ${stateDir} was copied to a database, which has it now`,
        mend: 'set DATABASE_URL; if the copy was cut off, run `state copy` again first',
      },
    ]);
  });

  it.each(['lock', 'state.db', 'state.json', 'state-key', 'pay-to'])(
    'a folder in the place of %s must be mended',
    async (name) => {
      const stateDir = join(folder, `folder-${name}`);
      mkdirSync(join(stateDir, name), { recursive: true });
      const { exitCode, report } = await examine({ 'state-dir': stateDir });
      expect(exitCode).toBe(1);
      const mends = of(report, 'state').filter(({ verdict }) => verdict === 'mend');
      expect(mends.map(({ found }) => found)).toEqual([
        expect.stringContaining(`${join(stateDir, name)} is a folder, not a file`),
      ]);
      const given = {
        'state-key': Buffer.alloc(32).toString('base64'),
        'pay-to': '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
      };
      expect((await examine({ 'state-dir': stateDir, ...given })).exitCode).toBe(name in given ? 0 : 1);
    },
  );

  it.each([
    ['state-key', 'no key of 32 bytes'],
    ['pay-to', 'no address'],
  ])('a file of other text in the place of %s must be mended', async (name, reason) => {
    const stateDir = join(folder, `text-${name}`);
    mkdirSync(stateDir);
    writeFileSync(join(stateDir, name), 'none');
    const { exitCode, report } = await examine({ 'state-dir': stateDir });
    expect([exitCode, wordsOf(report, 'state')]).toEqual([
      1,
      expect.arrayContaining([expect.stringContaining(`${name} holds ${reason}`)]),
    ]);
  });

  it.runIf(process.getuid?.() !== 0)('a folder that cannot be written must be mended', async () => {
    const stateDir = join(folder, 'closed');
    mkdirSync(stateDir);
    chmodSync(stateDir, 0o500);
    expect((await examine({ 'state-dir': stateDir })).report.ok).toBe(false);
  });

  it('keeps nothing in memory only where money moves', async () => {
    const money = {
      settlement: 'facilitator',
      'facilitator-url': 'http://127.0.0.1:1',
      'pay-to': PAY_TO,
      'state-dir': ':memory:',
    };
    expect(wordsOf((await examine(money)).report, 'state')).toEqual([
      expect.stringMatching(/^mend: STATE_DIR=:memory:/),
    ]);
    expect(wordsOf((await examine({ 'state-dir': ':memory:' })).report, 'state')).toEqual([
      expect.stringMatching(/^note: /),
    ]);
  });
});

describe('doctor on the facilitator', () => {
  it('of a server that does not use it, because SETTLEMENT is not set, says what to set', async () => {
    const { exitCode, report } = await examine({ 'facilitator-url': 'https://facilitator.example' });
    expect([exitCode, of(report, 'facilitator')]).toEqual([
      1,
      [
        expect.objectContaining({ verdict: 'note' }),
        {
          check: 'facilitator',
          verdict: 'mend',
          found: 'FACILITATOR_URL is not used with SETTLEMENT=local, which is the default',
          mend: expect.stringContaining('set SETTLEMENT=facilitator'),
        },
      ],
    ]);
  });

  let facilitator: FakeFacilitator;
  beforeAll(async () => {
    facilitator = await new FakeFacilitator({}).listen();
  });
  afterAll(() => facilitator.close());

  const GOOD = { x402Version: 2, scheme: 'exact', network: 'eip155:8453' };
  const answered = (body: unknown, status = 200, headers: Record<string, string> = {}) => [{ status, body, headers }];
  const kinds = (...all: object[]) => answered({ kinds: all, extensions: ['bazaar'], signers: {} });

  const examineWith = async (step: readonly object[], nowMs?: number): Promise<Report> => {
    facilitator.scripts = { '/supported': step as never };
    const settings = {
      settlement: 'facilitator',
      'facilitator-url': facilitator.url,
      'facilitator-token': 'token-canary',
      'pay-to': PAY_TO,
      'base-url': 'http://127.0.0.1:1',
    };
    const { report, stdout, stderr } = await examine(settings, nowMs);
    expect(stdout + stderr).not.toContain('canary');
    expect(facilitator.calls.at(-1)?.headers.authorization).toBe('Bearer token-canary');
    return report;
  };

  it('is content with one that settles USDC on Base', async () => {
    const report = await examineWith(
      kinds({ ...GOOD, network: 'eip155:1' }, { ...GOOD, extra: { name: 'USD Coin', version: '2' } }),
    );
    expect(wordsOf(report, 'facilitator')).toEqual([
      'ok: settles exact on eip155:8453',
      'ok: lists paid operations (bazaar)',
    ]);
    expect(wordsOf(report, 'clock')).toEqual([expect.stringMatching(/^skipped: /)]);
  });

  it.each([
    [
      'another network',
      kinds({ ...GOOD, network: 'eip155:84532' }),
      /does not settle exact on eip155:8453.*2\/exact\/eip155:84532/,
    ],
    ['version 1 only', kinds({ ...GOOD, x402Version: 1 }), /does not settle/],
    ['no kinds', kinds(), /lists nothing/],
    ['another token', kinds({ ...GOOD, extra: { asset: `0x${'2'.repeat(40)}` } }), /settles 0x2+, not USDC/],
    ['something else', answered('<html>'), /not the answer of an x402 facilitator/],
    ['401', answered({}, 401), /refuses this server \(401\)/],
    ['404', answered({}, 404), /answers \/supported with 404/],
    ['500', answered({}, 500), /answers \/supported with 500/],
    ['a redirect', answered('', 308, { location: 'https://other.example/x402' }), /redirects \(308\)/],
    ['a closed connection', ['close'] as never, /cannot be reached/],
  ] as const)('%s must be mended', async (_, step, found) => {
    const report = await examineWith(step);
    expect(report.ok).toBe(false);
    const [finding] = of(report, 'facilitator');
    expect(finding).toMatchObject({
      verdict: 'mend',
      found: expect.stringMatching(found),
      mend: expect.stringMatching(/\S/),
    });
  });

  it('names the target of a redirect as FACILITATOR_URL has it', async () => {
    const report = await examineWith(answered('', 308, { location: 'https://other.example/x402/supported' }));
    expect(of(report, 'facilitator')).toMatchObject([
      { mend: 'set FACILITATOR_URL to the target: https://other.example/x402' },
    ]);
  });

  it.each([
    [0, 'ok'],
    [-10, 'note'],
    [10, 'note'],
    [-45, 'mend'],
    [45, 'mend'],
  ] as const)('a clock that is %i s off is reported as %s', async (seconds, verdict) => {
    const nowMs = Date.UTC(2026, 10, 20, 12);
    const date = new Date(nowMs - seconds * 1000).toUTCString();
    const [step] = kinds(GOOD);
    const report = await examineWith([{ ...step, headers: { date } }], nowMs);
    expect(of(report, 'clock').map((finding) => finding.verdict)).toEqual([verdict]);
  });

  it('PAY_TO is said, to be compared with the wallet', async () => {
    expect(of((await examine({ 'pay-to': PAY_TO })).report, 'payTo').map(({ verdict }) => verdict)).toEqual(['note']);
  });
});

describe('doctor on addresses', () => {
  it('something else on the port, or a host of another machine, must be mended', async () => {
    const other = await new FakeFacilitator({ '/health': [{ status: 200, body: { status: 'fine' } }] }).listen();
    const taken = await examine({ port: new URL(other.url).port });
    await other.close();
    expect(wordsOf(taken.report, 'port')).toEqual([
      expect.stringMatching(/^mend: something else is at 127\.0\.0\.1:\d+ \(status 200\)$/),
    ]);
    const free = await examine({ port: new URL(other.url).port });
    expect(wordsOf(free.report, 'port')).toEqual([expect.stringMatching(/^ok: .* is free$/)]);
    const foreign = await examine({ host: '192.0.2.1' });
    expect(wordsOf(foreign.report, 'port')).toEqual([
      expect.stringMatching(/^mend: nothing can listen on HOST 192\.0\.2\.1: E/),
    ]);
  });

  it.each<[answer: string, step: Step, verdict: RegExp]>([
    ['says that it is', { status: 200, body: { state: true } }, /^ok: .* is ready$/],
    [
      'says that its state is not',
      { status: 503, body: { state: false, snapshot: true } },
      /^mend: .* not ready: state$/,
    ],
    ['says no more than that it is not', { status: 503, body: {} }, /^mend: .* not ready: status 503$/],
    ['does not answer', 'close', /^mend: .* not ready: no answer to \/ready \(/],
  ])('a server that is asked whether it is ready and %s is reported as such', async (_, step, verdict) => {
    const health = { status: 200, body: { status: 'ok', version: '1' } };
    const server = await new FakeFacilitator({ '/health': [health], '/ready': [step] }).listen();
    const { report } = await examine({ port: new URL(server.url).port });
    await server.close();
    expect(wordsOf(report, 'port')).toEqual([
      expect.stringMatching(verdict),
      expect.stringMatching(/^note: no server that this process can see works on STATE_DIR .*none: the one/),
    ]);
  });

  it('a BASE_URL that makes offers too long must be mended', async () => {
    const long = await examine({ 'base-url': `https://shop.example/${'a'.repeat(170)}` });
    expect(of(long.report, 'offers').every(({ verdict }) => verdict === 'note')).toBe(true);
    expect(wordsOf((await examine()).report, 'offers')).toEqual([
      expect.stringMatching(/^ok: PAYMENT-REQUIRED has \d{4} bytes/),
    ]);
  });

  it('names variables that look like a misspelt setting, and no others', async () => {
    const env = {
      PAYTO: '0x1',
      RATE_LIMT_PER_MINUTE: '5',
      PORT: FREE_PORT,
      HOSTNAME: 'a',
      PAYGRADE_URL: 'x',
      PROT: '1',
      HOTS: 'x',
      ...Object.fromEntries(
        'HOME PATH PWD USER TERM LANG MAIL TZ CI POST COST host port'.split(' ').map((name) => [name, 'x']),
      ),
    };
    const { stdout } = await run(['doctor', '--json', '--snapshot', 'none', '--state-dir', ':memory:'], { env });
    const { findings } = JSON.parse(stdout) as Report;
    const notes = findings.filter(({ check, verdict }) => check === 'configuration' && verdict === 'note');
    expect(notes.map(({ found, mend }) => [found, mend])).toEqual([
      ['PAYTO is no setting and changes nothing', 'if you mean PAY_TO, name it so'],
      ['RATE_LIMT_PER_MINUTE is no setting and changes nothing', 'if you mean RATE_LIMIT_PER_MINUTE, name it so'],
      ['PROT is no setting and changes nothing', 'if you mean PORT, name it so'],
      ['HOTS is no setting and changes nothing', 'if you mean HOST, name it so'],
    ]);
  });

  it('says so when the proxy in front and the settings do not fit', async () => {
    const behind = await examine({ 'base-url': 'https://shop.example' });
    expect(wordsOf(behind.report, 'public').join('\n')).toContain('all customers share one rate limit');
    expect(wordsOf(behind.report, 'public').join('\n')).toContain('callbacks are sold with addresses of this machine');
    const near = await examine({ 'base-url': 'http://localhost:8402' });
    expect(wordsOf(near.report, 'public').join('\n')).not.toContain('HOOK_BASE_URL');
    const named = await examine({ 'base-url': 'https://shop.example', 'hook-base-url': 'https://hooks.example' });
    expect(wordsOf(named.report, 'public').join('\n')).not.toContain('HOOK_BASE_URL');
    const open = await examine({ 'trust-proxy': 'true', host: '0.0.0.0' });
    expect(wordsOf(open.report, 'public').join('\n')).toContain('can choose the address it is rate-limited by');
    for (const host of ['127.0.0.1', '127.0.0.2']) {
      const local = await examine({ 'trust-proxy': 'true', host });
      expect(wordsOf(local.report, 'public')).toEqual([expect.stringMatching(/^ok: BASE_URL is not set/)]);
    }
  });
});
