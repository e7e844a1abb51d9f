/** A catalogue behind an address (siblings §8), by its source: what is fetched again, what is refused for good, what comes late. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { catalogueSource, type SourcePorts } from '../../../src/adapters/files/catalogue-source.ts';
import { type Loading, type LoadingThread, startLoading } from '../../../src/adapters/files/catalogue-thread.ts';
import { systemTimers } from '../../../src/adapters/process/system-timers.ts';
import { openCatalogue } from '../../../src/app/catalogue.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { CatalogueHolder, type CatalogueSource, type ServedCatalogue } from '../../../src/catalogue/holder.ts';
import { SnapshotError } from '../../../src/catalogue/snapshot/snapshot-error.ts';
import { minimalJob } from '../../support/minimal-job.ts';
import { ObjectStore } from '../../support/object-store.ts';
import { bytesOfJobs } from '../../support/opened-jobs.ts';
import { testFolder } from '../../support/scratch-folder.ts';
import { until } from '../../support/until.ts';

const FIRST = bytesOfJobs([minimalJob({ id: 'a' })]);
const SECOND = bytesOfJobs([minimalJob({ id: 'a' }), minimalJob({ id: 'b' })]);
const DAMAGED = Uint8Array.from(SECOND, (byte, i) => (i === SECOND.length >> 1 ? byte ^ 1 : byte));
const POLL_MS = 60_000;

const jobCountOf = (served: ServedCatalogue | 'unchanged' | undefined): number | string =>
  typeof served === 'object' ? served.catalogue.snapshot.rowCount : String(served);

describe('a catalogue behind an address', () => {
  let store: ObjectStore;
  let folder: string;
  let faults: string[];
  beforeEach(async () => {
    store = new ObjectStore();
    await store.listen();
    folder = mkdtempSync(join(tmpdir(), 'paygrade-fetched-'));
    faults = [];
    onTestFinished(() => {
      store.close();
      rmSync(folder, { recursive: true });
    });
  });

  async function opened(ports: Partial<SourcePorts> = {}): Promise<CatalogueSource> {
    const onSnapshotFault = (fault: string): void => void faults.push(fault);
    const all: SourcePorts = { clock: systemClock, timers: systemTimers, folder, onSnapshotFault, ...ports };
    const source = await catalogueSource(`http://127.0.0.1:${store.port}/jobs.pgs`, all);
    await source.prepare?.();
    onTestFinished(() => source.close());
    return source;
  }
  const fileNames = (end: string): string[] => readdirSync(folder).filter((name) => name.endsWith(end));

  it('is fetched again after its loading failed for another reason than its content', async () => {
    store.object = { bytes: FIRST, etag: '"first"' };
    let failures = 1;
    const source = await opened({
      startLoading(task, name) {
        const running = startLoading(task, name);
        if (failures-- <= 0) return running;
        return {
          ...running,
          done: running.done.then(() => Promise.reject(new SnapshotError(`${name}: out of memory`))),
        };
      },
    });
    expect(source.load()).toBeUndefined();
    expect(faults).toEqual([expect.stringMatching(/jobs\.pgs: cannot be loaded and is tried again: out of memory$/)]);
    expect(jobCountOf(await source.reload())).toBe(1);
    expect(store.statuses).toEqual([200, 200]);
  });

  it('leaves no thread behind, whether it replaces a catalogue or not', async () => {
    let running = 0;
    const counted: SourcePorts['startLoading'] = (task, name) => {
      const thread = startLoading(task, name);
      running++;
      const free: LoadingThread['free'] = (memory) => {
        running--;
        thread.free(memory);
      };
      return { ...thread, free };
    };
    store.object = { bytes: FIRST, etag: '"first"' };
    const started = await opened({ startLoading: counted });
    expect([jobCountOf(started.load()), running]).toEqual([1, 0]);
    store.object = undefined;
    const folderWithoutCopy = testFolder();
    const holder = new CatalogueHolder(await opened({ startLoading: counted, folder: folderWithoutCopy }));
    expect(jobCountOf(holder.current())).toBe('undefined');
    for (const [bytes, jobCount] of [
      [FIRST, 1],
      [SECOND, 2],
    ] as const) {
      store.object = { bytes, etag: `"${jobCount}"` };
      await holder.reload();
      expect([jobCountOf(holder.current()), running]).toEqual([jobCount, 0]);
    }
    await holder.close();
  });

  it('makes a folder of its own when the start is prepared, and removes it at the end', async () => {
    vi.stubEnv('TMPDIR', folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const source = await catalogueSource(`http://127.0.0.1:${store.port}/jobs.pgs`, {
      clock: systemClock,
      timers: systemTimers,
    });
    expect(readdirSync(folder)).toEqual([]);
    await source.prepare?.();
    expect(readdirSync(folder).map((name) => statSync(join(folder, name)).mode & 0o777)).toEqual([0o700]);
    await source.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('ends the thread that checks a download when it is closed', async () => {
    store.object = { bytes: FIRST, etag: '"first"' };
    const loading = Promise.withResolvers<Loading>();
    let hasBegun = false;
    const source = await opened({
      startWaitMs: 50,
      startLoading() {
        hasBegun = true;
        return {
          done: loading.promise,
          free: () => expect.unreachable(),
          close: async () => loading.reject(new SnapshotError('ended')),
        };
      },
    });
    await until('the check of the download', () => hasBegun);
    await source.close();
    await expect(loading.promise).rejects.toThrow('ended');
    expect(fileNames('.new')).toEqual([]);
  });

  it('names the settings of a folder that cannot be made', async () => {
    const taken = join(testFolder(), 'file');
    writeFileSync(taken, '');
    await expect(opened({ folder: taken })).rejects.toThrow(
      `SNAPSHOT_CACHE, else STATE_DIR: ${taken} cannot keep a catalogue (EEXIST)`,
    );
  });

  it('leaves no connection open when it cannot be written', async () => {
    const source = await opened();
    store.object = { bytes: FIRST, etag: '"first"' };
    store.held = new Promise(() => {});
    rmSync(folder, { recursive: true });
    await expect(source.reload()).rejects.toThrow('ENOENT');
    mkdirSync(folder);
    await until('the end of the connection', () => store.openCount === 0);
  });

  it('is not fetched again while its content is damaged, and is when another one is there', async () => {
    store.object = { bytes: FIRST, etag: '"first"' };
    const source = await opened();
    store.object = { bytes: DAMAGED, etag: '"damaged"' };
    await expect(source.reload()).rejects.toThrow(/jobs\.pgs: refused: /);
    expect(jobCountOf(await source.reload())).toBe('unchanged');
    store.object = { bytes: SECOND, etag: '"second"' };
    expect(jobCountOf(await source.reload())).toBe(2);
    expect(store.statuses).toEqual([200, 200, 304, 200]);
  });

  it('is not read again from a server that ignores the condition and sends the same tag', async () => {
    store.object = { bytes: FIRST, etag: '"first"' };
    const source = await opened();
    store.ignoresConditions = true;
    store.held = new Promise(() => {});
    expect(jobCountOf(await source.reload())).toBe('unchanged');
    await until('the end of the connection', () => store.openCount === 0);
    expect(store.statuses).toEqual([200, 200]);
  });

  it('without a tag is read again when it was modified at another time or has another length', async () => {
    const [first, second] = [new Date('2026-01-02T03:04:05Z'), new Date('2026-01-01T03:04:05Z')];
    store.object = { bytes: FIRST, modified: first };
    const source = await opened();
    store.held = new Promise(() => {});
    expect(jobCountOf(await source.reload())).toBe('unchanged');
    await until('the end of the connection', () => store.openCount === 0);
    store.held = Promise.resolve();
    // Older: a file that was put back.
    store.object = { bytes: SECOND, modified: second };
    expect(jobCountOf(await source.reload())).toBe(2);
    expect(jobCountOf((await opened()).load())).toBe(2);
    expect(jobCountOf(await source.reload())).toBe('unchanged');
    expect(store.statuses).toEqual([200, 200, 200, 200, 200]);
    // It may be written once more in the same second.
    store.object = { bytes: FIRST, modified: new Date(Date.now() + POLL_MS) };
    for (let i = 0; i < 2; i++) expect(jobCountOf(await source.reload())).toBe(1);
    store.object = { bytes: FIRST };
    for (let i = 0; i < 2; i++) expect(jobCountOf(await source.reload())).toBe(1);
  });

  it('is fetched again when it may have been cut, because its answer does not state where it ends', async () => {
    store.object = { bytes: FIRST, etag: '"first"' };
    const source = await opened();
    store.object = { bytes: SECOND, etag: '"second"' };
    store.cutAt = SECOND.length >> 1;
    await expect(source.reload()).rejects.toThrow(/jobs\.pgs: refused: /);
    store.cutAt = undefined;
    expect(jobCountOf(await source.reload())).toBe(2);
  });

  it('is served though no copy of it can be kept, and then not fetched again before the next start', async () => {
    store.object = { bytes: FIRST, etag: '"first"' };
    await opened();
    const [tagName = ''] = fileNames('.json');
    rmSync(join(folder, tagName));
    mkdirSync(join(folder, tagName));
    store.object = { bytes: SECOND, etag: '"second"' };
    const source = await opened();
    expect(jobCountOf(source.load())).toBe(2);
    expect(faults).toEqual([expect.stringMatching(/jobs\.pgs: is served, but no copy of it can be kept \(\w+\)$/)]);
    expect(fileNames('.new')).toEqual([]);
    expect(jobCountOf(await source.reload())).toBe('unchanged');
  });

  it('is fetched whole when the kept copy cannot be read, which removes the copy only if it is damaged', async () => {
    store.object = { bytes: FIRST, etag: '"first"' };
    await opened();
    const copy = join(folder, fileNames('.pgs')[0] ?? '');
    rmSync(copy);
    mkdirSync(copy);
    const source = await opened();
    expect(source.load()).toBeUndefined();
    expect(existsSync(copy)).toBe(true);
    expect(faults).toEqual([expect.stringMatching(/^the kept copy is not served: .*is not a file$/)]);
    expect(jobCountOf(await source.reload())).toBe(1);
    expect(store.statuses).toEqual([200, 304, 200]);
  });

  it('that takes longer than a start waits is served when it has come, the kept copy until then', async () => {
    store.object = { bytes: FIRST, etag: '"first"' };
    await opened();
    store.object = { bytes: SECOND, etag: '"second"' };
    let release = (): void => {};
    store.held = new Promise((resolve) => {
      release = resolve;
    });
    const source = await opened({ startWaitMs: 50 });
    const reported: (string | undefined)[] = [];
    const options = { isExpected: true, pollMs: POLL_MS };
    const { holder, component } = openCatalogue(source, options, {
      ...{ clock: systemClock, timers: systemTimers },
      onCatalogue: (fault?: string) => void reported.push(fault),
      ...{ onDamagedCatalogue: expect.unreachable, onFailure: expect.unreachable },
    });
    component.start?.();
    expect(jobCountOf(holder.current())).toBe(1);
    release();
    await until('the new catalogue', () => jobCountOf(holder.current()) === 2);
    expect([reported, faults, store.statuses]).toEqual([[undefined], [], [200, 200]]);
    component.drain?.();
    await component.close?.();
  });

  it('that comes late and damaged is refused with one line, and the kept copy is served on', async () => {
    store.object = { bytes: FIRST, etag: '"first"' };
    await opened();
    store.object = { bytes: DAMAGED, etag: '"damaged"' };
    let release = (): void => {};
    store.held = new Promise((resolve) => {
      release = resolve;
    });
    const source = await opened({ startWaitMs: 50 });
    release();
    await expect(source.reload()).rejects.toThrow(/jobs\.pgs: refused: /);
    expect([jobCountOf(source.load()), faults]).toEqual([1, []]);
  });
});
