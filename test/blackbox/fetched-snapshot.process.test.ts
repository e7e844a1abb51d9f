/** A catalogue behind an http address (siblings §8): fetched, checked, kept, polled; on both runtimes. */
import { readdirSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { buildSample } from '../../src/ingest/synth/sample.ts';
import { ObjectStore } from '../support/object-store.ts';
import { suiteFolder } from '../support/scratch-folder.ts';
import { oneRuntime, type RunningServer, startServer } from '../support/server.ts';
import { until as untilIn } from '../support/until.ts';

const until = (what: string, done: () => boolean | Promise<boolean>): Promise<void> => untilIn(what, done, 20_000);

const SMALL = buildSample(Date.now(), 200);
const GREATER = buildSample(Date.now(), 300);

async function jobCountOf(server: RunningServer): Promise<number> {
  const text = await (await server.fetch('/metrics')).text();
  const counts = [...text.matchAll(/^paygrade_catalogue_jobs\{[^}]*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

describe.each(oneRuntime('bun'))('a catalogue behind an address, under %s', { timeout: 120_000 }, (runtime) => {
  const store = new ObjectStore();
  const cache = suiteFolder();
  let server: RunningServer | undefined;

  const start = async (): Promise<RunningServer> => {
    server = await startServer(runtime, {
      SNAPSHOT: `http://127.0.0.1:${store.port}/jobs/today.pgs?signature=secret`,
      SNAPSHOT_CACHE: cache,
      SNAPSHOT_POLL_SECONDS: '1',
      STATE_DIR: ':memory:',
      LOG_LEVEL: 'error',
    });
    return server;
  };

  beforeAll(() => store.listen());
  afterEach(async () => {
    await server?.kill();
  });
  afterAll(() => {
    store.close();
  });

  it('is waited for, replaced by one upload, and refused with one line when it is damaged', async () => {
    const running = await start();
    expect((await running.fetch('/v1/jobs/search')).status).toBe(503);
    expect(await (await running.fetch('/ready')).json()).toMatchObject({ snapshot: false });
    await until('what the operator reads', () => running.stderr().includes('catalogue reload failed'));
    expect(running.stderr()).toContain(`SNAPSHOT: http://127.0.0.1:${store.port}/jobs/today.pgs: answered`);
    expect(running.stderr()).toContain('catalogue reload failed; no catalogue is served until one can be loaded');
    expect(running.stderr()).not.toContain('still serving the previous one');
    store.object = { bytes: SMALL, etag: '"first"' };
    await until('the first catalogue', async () => (await running.fetch('/ready')).status === 200);
    expect(await jobCountOf(running)).toBe(200);

    store.object = { bytes: GREATER, etag: '"second"' };
    await until('the second catalogue', async () => (await jobCountOf(running)) === 300);

    const damaged = Uint8Array.from(SMALL);
    damaged[damaged.length >> 1]! ^= 1;
    store.object = { bytes: damaged, etag: '"damaged"' };
    const refusals = () => running.stderr().match(/refused/g)?.length ?? 0;
    await until('the refusal', () => refusals() === 1);
    const fetched = store.statuses.filter((status) => status === 200).length;
    const asked = store.statuses.length;
    await until('two more looks', () => store.statuses.length >= asked + 2);
    expect(await jobCountOf(running)).toBe(300);
    expect(refusals()).toBe(1);
    expect(store.statuses.filter((status) => status === 200).length).toBe(fetched);
    expect(running.stderr()).toContain(`http://127.0.0.1:${store.port}/jobs/today.pgs: refused`);
    expect(running.stderr() + running.stdout()).not.toContain('signature=secret');
    expect(readdirSync(cache).filter((name) => name.endsWith('.new'))).toEqual([]);
  });

  it('is served from its kept copy when the address does not answer at the start', async () => {
    store.object = undefined;
    const running = await start();
    expect((await running.fetch('/ready')).status).toBe(200);
    expect(await jobCountOf(running)).toBe(300);
    store.object = { bytes: SMALL, etag: '"third"' };
    await until('the third catalogue', async () => (await jobCountOf(running)) === 200);
  });

  it('is not downloaded again for a start with its copy', async () => {
    const before = store.statuses.length;
    const running = await start();
    expect(await jobCountOf(running)).toBe(200);
    expect(store.statuses.slice(before)[0]).toBe(304);
  });
});
