/** A disk that is full or fails, under a running server (reliability 266, 267): what is refused, what goes on, what comes back. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Callback, createCallback, eventsOf, postJson } from '../support/callback-client.ts';
import { suiteFolder } from '../support/scratch-folder.ts';
import { oneRuntime, type RunningServer, type Runtime, startServer } from '../support/server.ts';
import { buy, encodeHeader, offerOf, paymentFor, wallet } from '../support/wallet.ts';

const SEARCH = '/v1/jobs/search?keyword=engineer';
const LONG = `{"long":"${'x'.repeat(150_000)}"}`;
const account = wallet();

const start = (runtime: Runtime, stateDir: string): Promise<RunningServer> =>
  startServer(runtime, { STATE_DIR: stateDir, LOG_LEVEL: 'error', BASE_URL: 'https://shop.example' });

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

/** An I/O error that is real: past this size the system refuses to write (EFBIG), which SQLite calls SQLITE_IOERR. */
const limitFiles = (server: RunningServer, bytes: number | 'unlimited'): void => {
  execFileSync('prlimit', ['--pid', String(server.child.pid), `--fsize=${bytes}:`]);
};

const hasPrlimit = spawnSync('prlimit', ['--version']).status === 0;
if (!hasPrlimit) console.warn('skipping the disk that fails: no prlimit (Debian: util-linux)');

describe.runIf(hasPrlimit).each(oneRuntime('bun'))('a disk that fails, under %s', (runtime) => {
  const stateDir = suiteFolder();

  it('ends all selling until the next start, keeps what was acknowledged and sells nothing twice (reliability 267)', async () => {
    const server = await start(runtime, stateDir);
    const paid = encodeHeader(await paymentFor(await offerOf(server.url + SEARCH), account));
    expect((await fetch(server.url + SEARCH, { headers: { 'PAYMENT-SIGNATURE': paid } })).status).toBe(200);
    const callback = await createCallback(server, account);
    const eventIds = [await eventIdOf(await postJson(server, callback.id, LONG))];
    const caught = encodeHeader(await paymentFor(await offerOf(server.url + SEARCH), account));

    limitFiles(server, 1);
    const refused = await fetch(server.url + SEARCH, { headers: { 'PAYMENT-SIGNATURE': caught } });
    expect(refused.status).toBe(503); // 402 would ask for a second signature while the first may be on record
    expect(refused.headers.get('payment-required')).toBeNull();
    await refused.arrayBuffer();
    expect((await postJson(server, callback.id, LONG)).status).toBe(500); // the one code that the specification has for it
    await expectReadingOnly(server, callback, eventIds);

    // A sync that failed once may succeed the next time without the data.
    limitFiles(server, 'unlimited');
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
