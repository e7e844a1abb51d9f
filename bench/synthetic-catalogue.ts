/**
 * The catalogue of the benches: `src/ingest/synth/synth.ts` with a fixed seed and day, so that every run on every runtime has
 * the same bytes. 20,000 jobs already fill the cohort of 10,000; a million are the full size.
 *
 * Building the snapshot of a million jobs peaked at 600 MiB of RSS on Node 26.10.0 and at 1,040 MiB on Bun 1.4.5.
 */
import { openSnapshotFile, writeSnapshotFile } from '../src/adapters/files/snapshot-file.ts';
import { Catalogue } from '../src/catalogue/catalogue.ts';
import type { CompanyDomain } from '../src/catalogue/company-domain.ts';
import type { Job } from '../src/catalogue/job.ts';
import { COHORT_ROWS_MAX } from '../src/catalogue/limits.ts';
import type { CohortFilters } from '../src/catalogue/questions/cohort-rows.ts';
import type { SearchFilters } from '../src/catalogue/questions/search.ts';
import { SnapshotBuilder } from '../src/catalogue/snapshot/build.ts';
import { openSnapshot, type Snapshot } from '../src/catalogue/snapshot/snapshot.ts';
import { parseNative } from '../src/ingest/native.ts';
import { loadSkillExtractor } from '../src/ingest/skills/skills.ts';
import { type SynthOptions, synthRecords } from '../src/ingest/synth/synth.ts';

export const SEED = 7;
/** The time of every question, and of the newest observation. */
export const NOW_MS = Date.UTC(2026, 6, 15);
export const SMALL_JOB_COUNT = 20_000;
export const FULL_JOB_COUNT = 1_000_000;

export function* syntheticJobs(jobCount: number, descriptions: SynthOptions['descriptions'] = false): Generator<Job> {
  const skills = loadSkillExtractor();
  for (const record of synthRecords({ jobs: jobCount, seed: SEED, asOfMs: NOW_MS, descriptions })) {
    const parsed = parseNative(record, skills);
    if (!parsed.ok) throw new Error(`the catalogue refuses a synthetic job: ${parsed.field} ${parsed.reason}`);
    yield parsed.job;
  }
}

export async function writeSyntheticCatalogue(path: string, jobCount: number): Promise<void> {
  const builder = new SnapshotBuilder();
  for (const job of syntheticJobs(jobCount)) builder.add(job);
  const facts = { builtAtMs: NOW_MS, sourceRows: jobCount, rejectedRows: 0, skillsVersion: '0' };
  await writeSnapshotFile(path, builder.finish(() => facts).chunks);
}

export function openCatalogue(path: string): Catalogue {
  const catalogue = new Catalogue(openSnapshot(openSnapshotFile(path)));
  catalogue.warm();
  return catalogue;
}

/** Title -> question, one for each kind of plan. */
export const SIGNAL_QUESTIONS: Readonly<Record<string, CohortFilters>> = {
  selective: { role: 'senior data engineer', location: 'germany' },
  medium: { role: 'engineer', location: 'united states' },
  department: { department: 'engineering' },
  'eight terms': { role: 'senior engineer e n i r s a', location: 'a' },
  'one letter': { role: 'e' },
};

export const SEARCH_QUESTIONS: Readonly<Record<string, SearchFilters>> = {
  common: { keyword: 'engineer' },
  selective: { keyword: 'senior kubernetes', location: 'germany', remote: true },
  nothing: { keyword: 'engineer zzqx' },
  'no filter': {},
};

/** What people type, and what is most expensive for an index. The last ones are the worst that a filter allows. */
export const MORE_SEARCH_QUESTIONS: Readonly<Record<string, SearchFilters>> = {
  'two letters': { keyword: 'go' },
  'two letters nearly everywhere': { keyword: 'er' },
  'three words': { keyword: 'senior software engineer' },
  'a rare word': { keyword: 'bioinformatics' },
  'eight terms': { keyword: 'senior data engineer python sql aws docker kafka' },
  'a place': { location: 'germany' },
  remote: { remote: true },
  'an employment type': { employmentType: 'contract' },
  'a term, a place, remote, an employment type': {
    keyword: 'kubernetes',
    location: 'berlin',
    remote: true,
    employmentType: 'contract',
  },
  'eight pieces of words': { keyword: 'se en da gi ta or io ne', location: 'er an', remote: true },
  'eight rarer pieces': { keyword: 'qu ux xp gy ff wo ju za', location: 'ur' },
  'sixteen pieces': { keyword: 'qu ve ge ck ap ou fi bu', location: 'ur ta ca ro ng st ex wa' },
};

/** The rows that the model needs to aggregate the whole catalogue: one more than the cohort has. */
export function modelRows(snapshot: Snapshot): Job[] {
  return Array.from({ length: Math.min(snapshot.activeCount, COHORT_ROWS_MAX + 1) }, (_, row) => snapshot.job(row));
}

/** The same for one company. */
export function modelRowsOf(snapshot: Snapshot, company: number): Job[] {
  const start = snapshot.companyOffsets[company]!;
  const end = Math.min(snapshot.companyOffsets[company + 1]!, start + COHORT_ROWS_MAX + 1);
  return Array.from(snapshot.companyRows.subarray(start, end), (row) => snapshot.job(row));
}

/** Companies with a domain and an active job, largest first. */
export function companiesBySize(snapshot: Snapshot): number[] {
  return Array.from({ length: snapshot.companyCount }, (_, company) => company)
    .filter((company) => snapshot.companyHasDomain[company] === 1 && snapshot.activeCountOf(company) > 0)
    .sort((a, b) => snapshot.activeCountOf(b) - snapshot.activeCountOf(a) || a - b);
}

export function domainAt(snapshot: Snapshot, company: number): CompanyDomain {
  const domain = snapshot.domainOf(company);
  if (domain === null) throw new Error(`company ${company} has no domain`);
  return domain;
}
