/** A disk that is full or fails, or is slow, under a running server (reliability 266 to 268): what is refused, what goes on, what comes back. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Callback, createCallback, eventsOf, postJson } from '../support/callback-client.ts';
import { interposed } from '../support/interposed.ts';
import { suiteFolder, testFolder } from '../support/scratch-folder.ts';
import { oneRuntime, RUNTIMES, type RunningServer, type Runtime, startServer } from '../support/server.ts';
import { buy, encodeHeader, offerOf, paymentFor, wallet } from '../support/wallet.ts';
import { IS_WHOLE } from '../support/whole.ts';

const SEARCH = '/v1/jobs/search?keyword=engineer';
const LONG = `{"long":"${'x'.repeat(150_000)}"}`;
const account = wallet();

const start = (
  runtime: Runtime,
  stateDir: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<RunningServer> =>
  startServer(runtime, { STATE_DIR: stateDir, LOG_LEVEL: 'error', BASE_URL: 'https://shop.example', ...variables });

async function eventIdOf(response: Response): Promise<string> {
  expect(response.status).toBe(200);
  return ((await response.json()) as { event_id: string }).event_id;
}

async function listedIds(server: RunningServer, callback: Callback): Promise<string[]> {
  const events = await eventsOf(server, callback);
  for (const { body } of events) expect(body).toEqual(JSON.parse(LONG));
  return events.map(({ id }) => id);
}

const ready = async (server: RunningServer): Promise<[status: number, body: unknown]> => {
  const response = await fetch(`${server.url}/ready`);
  return [response.status, await response.json()];
};

/** What is refused and what goes on while nothing can be written. */
async function expectReadingOnly(server: RunningServer, callback: Callback, eventIds: string[]): Promise<void> {
  expect((await ready(server))[0]).toBe(503);
  expect((await ready(server))[1]).toMatchObject({ state: false, snapshot: true, settlement: true });
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
  for (const [path, method] of [
    [SEARCH, 'GET'],
    ['/v1/callbacks', 'POST'],
  ] as const) {
    const unpaid = await fetch(server.url + path, { method });
    expect(unpaid.status).toBe(503);
    expect(unpaid.headers.get('payment-required')).toBeNull();
    expect(unpaid.headers.get('retry-after')).toMatch(/^[1-9]/);
    await unpaid.arrayBuffer();
  }
  expect(await listedIds(server, callback)).toEqual(eventIds);
}

/** A way to make every commit of one server fail, and to let it succeed again. */
interface Failing {
  readonly variables: Readonly<Record<string, string>>;
  begin(server: RunningServer): void;
  end(server: RunningServer): void;
}

/** An I/O error that is real: past this size the system refuses to write (EFBIG), which SQLite calls SQLITE_IOERR. */
const limitFiles = (server: RunningServer, bytes: number | 'unlimited'): void => {
  execFileSync('prlimit', ['--pid', String(server.child.pid), `--fsize=${bytes}:`]);
};

const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;
if (!hasPrlimit) console.warn('skipping the disk that fails: no prlimit (Debian: util-linux)');

const writesFailing: Failing = {
  variables: {},
  begin: (server) => limitFiles(server, 1),
  end: (server) => limitFiles(server, 'unlimited'),
};

/** How many ms a sync takes, or -1 for EIO. */
const syncs = interposed(`
static int instead(int fd, const char *name) {
  long ms = number();
  if (ms < 0) { errno = EIO; return -1; }
  if (ms > 0) usleep(ms * 1000);
  return ORIGINAL(int (*)(int), name)(fd);
}
int fsync(int fd) { return instead(fd, "fsync"); }
int fdatasync(int fd) { return instead(fd, "fdatasync"); }
`);
const hasSync = syncs !== undefined;
const setSyncMs = (ms: number): void => writeFileSync(syncs!.file, String(ms));
const syncsFailing: Failing = {
  variables: syncs?.variables ?? {},
  begin: () => setSyncMs(-1),
  end: () => setSyncMs(0),
};

const failures = [
  ...oneRuntime('bun').map((runtime) => ({ what: 'write', runtime, failing: writesFailing, isPossible: hasPrlimit })),
  ...oneRuntime('node').map((runtime) => ({ what: 'sync', runtime, failing: syncsFailing, isPossible: hasSync })),
];

describe.each(failures)('a $what that fails, under $runtime', ({ runtime, failing, isPossible }) => {
  const stateDir = suiteFolder();

  it.runIf(isPossible)(
    'ends all selling until the next start, keeps what was acknowledged and sells nothing twice (reliability 267)',
    async () => {
      const server = await start(runtime, stateDir, failing.variables);
      const paid = encodeHeader(await paymentFor(await offerOf(server.url + SEARCH), account));
      expect((await fetch(server.url + SEARCH, { headers: { 'PAYMENT-SIGNATURE': paid } })).status).toBe(200);
      const callback = await createCallback(server, account);
      const eventIds = [await eventIdOf(await postJson(server, callback.id, LONG))];
      const caught = encodeHeader(await paymentFor(await offerOf(server.url + SEARCH), account));

      failing.begin(server);
      const refused = await fetch(server.url + SEARCH, { headers: { 'PAYMENT-SIGNATURE': caught } });
      expect(refused.status).toBe(503); // 402 would ask for a second signature while the first may be on record
      expect(refused.headers.get('payment-required')).toBeNull();
      await refused.arrayBuffer();
      expect((await postJson(server, callback.id, LONG)).status).toBe(500); // the one code that the specification has for it
      await expectReadingOnly(server, callback, eventIds);
      await expect
        .poll(server.stdout)
        .toMatch(/"level":"error","message":"the server accepts no payments","fault":"[^"]+"/);

      // A sync that failed once may succeed the next time without the data.
      failing.end(server);
      await new Promise((resolve) => setTimeout(resolve, 1500));
      await expectReadingOnly(server, callback, eventIds);
      await server.kill();

      const next = await start(runtime, stateDir);
      const replay = await fetch(next.url + SEARCH, { headers: { 'PAYMENT-SIGNATURE': paid } });
      expect(replay.status).toBe(409);
      // The one that was caught is either unused or was taken over; in both cases it buys one answer at most.
      const statuses: number[] = [];
      for (let round = 0; round < 3; round++) {
        const again = await fetch(next.url + SEARCH, { headers: { 'PAYMENT-SIGNATURE': caught } });
        statuses.push(again.status);
        await again.arrayBuffer();
      }
      expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(1);
      expect(statuses.slice(1)).toEqual([409, 409]);
      expect(await listedIds(next, callback)).toEqual(eventIds);
      expect(await next.stop()).toBe(0);
    },
    30_000,
  );
});

describe.runIf(hasSync && IS_WHOLE).each(RUNTIMES)('a slow disk, under %s', (runtime) => {
  it('sells nothing while commits take more than two seconds, says so, and holds up no other request (reliability 268)', async () => {
    const server = await start(runtime, testFolder(), { ...syncsFailing.variables, LOG_LEVEL: 'warn' });
    const statusOf = async (path: string, headers: Record<string, string> = {}): Promise<number> => {
      const response = await fetch(server.url + path, { headers });
      await response.arrayBuffer();
      return response.status;
    };
    const pay = async (): Promise<() => Promise<number>> => {
      const payment = encodeHeader(await paymentFor(await offerOf(server.url + SEARCH), account));
      return () => statusOf(SEARCH, { 'PAYMENT-SIGNATURE': payment });
    };
    const [slow, late] = [await pay(), await pay()];
    setSyncMs(4_000);
    const slowed = slow();
    await expect.poll(() => statusOf(SEARCH)).toBe(503);
    expect(await late()).toBe(503);
    const startMs = performance.now();
    expect(await statusOf('/health')).toBe(200);
    expect(performance.now() - startMs).toBeLessThan(1_000);
    await expect.poll(server.stdout).toContain('"fault":"the disk takes longer than 2000 ms for a write to the state"');
    expect(await slowed).toBe(200);
    // That was the first of several commits, each as slow.
    for (let i = 0; i < 20; i++) {
      expect(await statusOf(SEARCH)).toBe(503);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    expect(server.stdout()).not.toContain('the server can write its state again');
    setSyncMs(0);
    await expect.poll(server.stdout).toContain('the server can write its state again');
    expect(await late()).toBe(200);
    expect(await server.stop()).toBe(0);
  }, 30_000);

  it('is not blamed while the process stands still with a commit in flight', async () => {
    const server = await start(runtime, testFolder(), { ...syncsFailing.variables, LOG_LEVEL: 'warn' });
    const payment = encodeHeader(await paymentFor(await offerOf(server.url + SEARCH), account));
    setSyncMs(700);
    const bought = fetch(server.url + SEARCH, { headers: { 'PAYMENT-SIGNATURE': payment } });
    await new Promise((resolve) => setTimeout(resolve, 300));
    process.kill(server.child.pid!, 'SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    process.kill(server.child.pid!, 'SIGCONT');
    expect((await bought).status).toBe(200);
    setSyncMs(0);
    expect(server.stdout()).not.toContain('the disk takes longer');
    expect(await server.stop()).toBe(0);
  }, 30_000);
});

/** A disk of one's own. Mounting needs rights that a user of the project may not have. */
function mountSmallDisk(mebibytes: number): string | undefined {
  const path = mkdtempSync(join(tmpdir(), 'paygrade-full-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', path]);
  if (status === 0) return path;
  rmSync(path, { recursive: true, force: true });
  return undefined;
}

const disks = oneRuntime('node').map((runtime) => ({ runtime, disk: mountSmallDisk(2) }));
if (disks.some(({ disk }) => disk === undefined)) console.warn('skipping the full disk: no right to mount a tmpfs');
afterAll(() => {
  for (const { disk } of disks) {
    if (disk === undefined) continue;
    spawnSync('umount', ['--lazy', disk]); // a server that a failed test left behind still holds it
    rmSync(disk, { recursive: true, force: true });
  }
});

describe.each(disks)('a full disk, under $runtime', ({ runtime, disk }) => {
  it.skipIf(disk === undefined)(
    'refuses before it sells, still reads, and sells again by itself once there is room (reliability 266)',
    { timeout: 30_000 },
    async () => {
      const place = disk as string;
      const server = await start(runtime, join(place, 'state'));
      const callback = await createCallback(server, account);
      const eventIds = [await eventIdOf(await postJson(server, callback.id, LONG))];
      const filler = join(place, 'filler');
      try {
        writeFileSync(filler, new Uint8Array(4 * 1024 * 1024));
      } catch (failure) {
        expect((failure as { code?: string }).code).toBe('ENOSPC');
      }
      const refused = await postJson(server, callback.id, LONG);
      expect(refused.status).toBe(500);
      expect(await refused.text()).not.toContain(place);
      await expectReadingOnly(server, callback, eventIds);

      rmSync(filler);
      await expect.poll(async () => (await ready(server))[0]).toBe(200);
      expect((await buy(server.url + SEARCH, account)).status).toBe(200);
      eventIds.push(await eventIdOf(await postJson(server, callback.id, LONG)));
      await server.kill();
      const next = await start(runtime, join(place, 'state'));
      expect(await listedIds(next, callback)).toEqual(eventIds);
      expect(await next.stop()).toBe(0);
    },
  );
});
