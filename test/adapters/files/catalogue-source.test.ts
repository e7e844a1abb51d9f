import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { catalogueSource, SAMPLE } from '../../../src/adapters/files/catalogue-source.ts';
import { startLoading } from '../../../src/adapters/files/catalogue-thread.ts';
import type { ServedCatalogue } from '../../../src/catalogue/holder.ts';
import type { Job } from '../../../src/catalogue/job.ts';
import { companyActivity } from '../../../src/catalogue/questions/company.ts';
import { observationPeriodEndingAt } from '../../../src/catalogue/questions/period.ts';
import { search } from '../../../src/catalogue/questions/search.ts';
import { signals } from '../../../src/catalogue/questions/signals.ts';
import { SnapshotError } from '../../../src/catalogue/snapshot/snapshot-error.ts';
import { parseNative } from '../../../src/ingest/native.ts';
import { synthRecords } from '../../../src/ingest/synth/synth.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { minimalJob } from '../../support/minimal-job.ts';
import { bytesOfJobs } from '../../support/opened-jobs.ts';
import { testFolder } from '../../support/scratch-folder.ts';

const SRC = fileURLToPath(new URL('../../../src/', import.meta.url));

const portsOf = (time: ManualTime) => ({ clock: time, timers: time });

function newFolder(): string {
  const folder = testFolder();
  return folder;
}

const bytesTitled = (...titles: string[]) =>
  bytesOfJobs(titles.map((title, index) => minimalJob({ id: `job-${index}`, title })));

function* syntheticJobs(jobs: number): Generator<Job> {
  const never = {
    extract: (): never => expect.fail('these records name their skills'),
    descriptionText: (text: string): string => text,
  };
  for (const record of synthRecords({ jobs, seed: 7, asOfMs: Date.UTC(2026, 6, 15), descriptions: false })) {
    const parsed = parseNative(record, never);
    if (parsed.ok) yield parsed.job;
  }
}

const titlesOf = ({ catalogue: { snapshot } }: ServedCatalogue): string[] =>
  Array.from({ length: snapshot.rowCount }, (_, row) => snapshot.job(row).title);

it('takes no catalogue for "none"', async () => {
  const source = await catalogueSource(undefined, portsOf(new ManualTime()));
  expect(source.load()).toBeUndefined();
  expect(await source.reload()).toBeUndefined();
});

it('takes the sample, observed up to the moment of each taking', async () => {
  const time = new ManualTime();
  const source = await catalogueSource(SAMPLE, portsOf(time));
  const { catalogue, isSynthetic } = source.load()!;
  expect(isSynthetic).toBe(true);
  expect(catalogue.snapshot.rowCount).toBe(3000);
  expect(catalogue.snapshot.facts.builtAtMs).toBe(time.nowMs());
  const { newestObservedMs } = catalogue.snapshot;
  time.pass(3 * 86_400_000);
  const later = (await source.reload()) as ServedCatalogue;
  expect(later.isSynthetic).toBe(true);
  expect(later.catalogue.snapshot.newestObservedMs! - newestObservedMs!).toBe(3 * 86_400_000);
  expect(search(later.catalogue, { keyword: 'engineer' }, 10).jobs).toHaveLength(10);
});

it('takes a file as it is at each taking, and refuses one that is missing or damaged', async () => {
  const path = join(newFolder(), 'catalogue.snapshot');
  const source = await catalogueSource(path, portsOf(new ManualTime()));
  expect(() => source.load()).toThrow(SnapshotError);
  await expect(source.reload()).rejects.toThrow(SnapshotError);
  writeFileSync(path, bytesTitled('First'));
  const { catalogue, isSynthetic } = source.load()!;
  expect(isSynthetic).toBe(false);
  expect(catalogue.snapshot.rowCount).toBe(1);
  catalogue.snapshot.close();
  writeFileSync(path, 'something else');
  expect(() => source.load()).toThrow(SnapshotError);
});

it('answers from a catalogue that a thread loaded as from one that was loaded at once', async () => {
  const path = join(newFolder(), 'catalogue.snapshot');
  writeFileSync(path, bytesOfJobs(syntheticJobs(12_000)));
  const source = await catalogueSource(path, portsOf(new ManualTime()));
  const here = source.load()!.catalogue;
  const there = ((await source.reload()) as ServedCatalogue).catalogue;
  const period = observationPeriodEndingAt(here.snapshot.newestObservedMs!);
  for (const filters of [{}, { keyword: 'senior' }, { location: 'berlin' }, { remote: true, keyword: 'e' }]) {
    expect(search(there, filters, 10)).toEqual(search(here, filters, 10));
  }
  const departments = [...new Set(Array.from({ length: 50 }, (_, row) => here.snapshot.job(row).department))];
  for (const filters of [
    {},
    { role: 'engineer' },
    ...departments.map((department) => ({ department: department ?? '' })),
  ]) {
    expect(signals(there, filters, 10, period)).toEqual(signals(here, filters, 10, period));
  }
  for (let company = 0; company < 30; company++) {
    const domain = here.snapshot.domainOf(company);
    if (domain !== null) expect(companyActivity(there, domain)).toEqual(companyActivity(here, domain));
  }
  expect(there.snapshot.contentDigest).toBe(here.snapshot.contentDigest);
  for (const row of [0, 9_999, 10_000, 11_999]) expect(there.snapshot.job(row)).toEqual(here.snapshot.job(row));
  // Questions intersect bitmaps fastest where they lie in one array, as they did in the thread.
  const { location, title } = there.byCompany.built;
  expect(title!.bitmaps.length).toBeGreaterThan(0);
  expect(location!.bitmaps).toBe(title!.bitmaps);
});

it('refuses in one line what the thread refuses, and what happens to the thread (reliability 251, 260)', async () => {
  const time = new ManualTime();
  const path = join(newFolder(), 'catalogue.snapshot');
  const bytes = bytesTitled('First');
  bytes[bytes.length - 1]! ^= 1;
  writeFileSync(path, bytes);
  const refusalOf = async (entry?: URL): Promise<unknown> => {
    const source = await catalogueSource(path, {
      ...portsOf(time),
      ...(entry === undefined ? {} : { startLoading: (task, name) => startLoading(task, name, entry) }),
    });
    const failure = source.reload().catch((thrown: unknown) => thrown);
    const ticking = setInterval(() => time.pass(1000), 5);
    return failure.finally(() => clearInterval(ticking));
  };
  const damaged = await refusalOf();
  expect(damaged).toBeInstanceOf(SnapshotError);
  expect(String(damaged)).toMatch(/catalogue\.snapshot: has historyBlockOffsets out of order$/);
  const started = `import { parentPort } from 'node:worker_threads'; parentPort.postMessage({ kind: 'started' });`;
  const program = (code: string) => new URL(`data:text/javascript,${encodeURIComponent(started + code)}`);
  for (const [code, why] of [
    ['throw new Error("out of\\nmemory")', /catalogue\.snapshot: the thread that loads it failed: out of$/],
    ['process.exit(1)', /catalogue\.snapshot: the thread that loads it ended$/],
  ] as const) {
    const failure = await refusalOf(program(code));
    expect(failure).toBeInstanceOf(SnapshotError);
    expect(String(failure)).toMatch(why);
  }
});

it('loads on the main thread where no thread can start', async () => {
  const path = join(newFolder(), 'catalogue.snapshot');
  writeFileSync(path, bytesTitled('First'));
  const source = await catalogueSource(path, {
    ...portsOf(new ManualTime()),
    startLoading: (task, name) => startLoading(task, name, new URL('file:///nowhere/worker.ts')),
  });
  const served = (await source.reload()) as ServedCatalogue;
  expect(titlesOf(served)).toEqual(['First']);
  source.discard(served.catalogue);
});

it('reads a file again that a producer still writes in place (reliability 259)', async () => {
  const time = new ManualTime();
  const path = join(newFolder(), 'catalogue.snapshot');
  const whole = bytesTitled('First', 'Second');
  writeFileSync(path, whole.subarray(0, whole.length / 2));
  const source = await catalogueSource(path, portsOf(time));
  const reloaded = source.reload();
  await expect.poll(() => time.pendingCount).toBe(1);
  writeFileSync(path, whole);
  time.pass(500);
  expect(titlesOf((await reloaded) as ServedCatalogue).sort()).toEqual(['First', 'Second']);
  // The refusal stands where the file stays as it is.
  writeFileSync(path, whole.subarray(0, whole.length / 2));
  const refused = source.reload().catch((failure: unknown) => failure);
  await expect.poll(() => time.pendingCount).toBe(1);
  time.pass(500);
  expect(String(await refused)).toMatch(/is cut off/);
});

it('frees the memory of a replaced catalogue at once (reliability 258)', async () => {
  const path = join(newFolder(), 'catalogue.snapshot');
  writeFileSync(path, bytesTitled('First'));
  const source = await catalogueSource(path, portsOf(new ManualTime()));
  const first = source.load()!;
  const second = (await source.reload()) as ServedCatalogue;
  source.discard(first.catalogue);
  expect(first.catalogue.snapshot.lastObserved.length).toBe(0);
  expect(titlesOf(second)).toEqual(['First']);
  await source.close();
});

it('ends a reload under way when it is closed', async () => {
  const path = join(newFolder(), 'catalogue.snapshot');
  writeFileSync(path, bytesTitled('First'));
  const source = await catalogueSource(path, portsOf(new ManualTime()));
  const reloaded = source.reload().catch((failure: unknown) => failure);
  await source.close();
  expect(await reloaded).toBeInstanceOf(SnapshotError);
  await expect(source.reload()).rejects.toThrow(/is closing/);
});

/** Modules that a file loads before it runs: its static imports of values, and theirs. */
function loadedBy(path: string, found = new Set<string>()): Set<string> {
  if (found.has(path)) return found;
  found.add(path);
  for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(
    /^(?:import|\}|export) (?!type )[^;]*?from '([^']+)'/gm,
  )) {
    if (name.startsWith('.')) loadedBy(join(dirname(path), name), found);
    else found.add(name);
  }
  return found;
}

it('loads the generator, the skills and the HTML parser only for the sample', () => {
  const loaded = [...loadedBy(join(SRC, 'adapters/files/catalogue-source.ts'))];
  expect(loaded).toContain(join(SRC, 'catalogue/snapshot/columns.ts'));
  expect(loaded.filter((name) => name.startsWith(join(SRC, 'ingest')) || name === 'htmlparser2')).toEqual([]);
});

it('builds the sample without the skill extractor and the HTML parser', () => {
  const loaded = [...loadedBy(join(SRC, 'ingest/synth/sample.ts'))];
  expect(loaded).toContain(join(SRC, 'ingest/synth/vocabulary.ts'));
  expect(loaded.filter((name) => name.endsWith('skills/skills.ts') || name === 'htmlparser2')).toEqual([]);
});
