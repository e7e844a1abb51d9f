import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { catalogueSource, NO_CATALOGUE, SAMPLE } from '../../../src/adapters/files/catalogue-source.ts';
import { SnapshotError } from '../../../src/catalogue/snapshot/snapshot-error.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { minimalJob } from '../../support/minimal-job.ts';
import { bytesOfJobs } from '../../support/opened-jobs.ts';

const SRC = fileURLToPath(new URL('../../../src/', import.meta.url));

it('takes no catalogue for "none"', async () => {
  const take = await catalogueSource(NO_CATALOGUE, new ManualTime());
  expect(take()).toBeUndefined();
});

it('takes the sample, observed up to the moment of each taking', async () => {
  const time = new ManualTime();
  const take = await catalogueSource(SAMPLE, time);
  const { catalogue, isSynthetic } = take()!;
  expect(isSynthetic).toBe(true);
  expect(catalogue.snapshot.rowCount).toBe(8000);
  expect(catalogue.snapshot.facts.builtAtMs).toBe(time.nowMs());
  time.pass(3 * 86_400_000);
  const later = take()!.catalogue.snapshot;
  expect(later.newestObservedMs! - catalogue.snapshot.newestObservedMs!).toBe(3 * 86_400_000);
});

it('takes a file as it is at each taking, and refuses one that is missing or damaged', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'paygrade-source-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'catalogue.snapshot');
  const take = await catalogueSource(path, new ManualTime());
  expect(() => take()).toThrow(SnapshotError);
  writeFileSync(path, bytesOfJobs([minimalJob()]));
  const { catalogue, isSynthetic } = take()!;
  expect(isSynthetic).toBe(false);
  expect(catalogue.snapshot.rowCount).toBe(1);
  catalogue.snapshot.close();
  writeFileSync(path, 'something else');
  expect(() => take()).toThrow(SnapshotError);
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
