/**
 * The catalogue behind the benches of the lists and of the Jobs Data API: synthetic jobs with descriptions, one company with 20,000 of them, and
 * three recorded events a job.
 *
 *   node bench/data-catalogue.ts FILE JOBS
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { writeSnapshotFile } from '../src/adapters/files/snapshot-file.ts';
import { openSpillFile } from '../src/adapters/files/spill-file.ts';
import type { CompanyDomain } from '../src/catalogue/company-domain.ts';
import type { Job } from '../src/catalogue/job.ts';
import type { EventJob, RecordedEvent } from '../src/catalogue/packed/history-build.ts';
import { HISTORY_KINDS, type HistoryKind } from '../src/catalogue/packed/history-event.ts';
import { SnapshotBuilder } from '../src/catalogue/snapshot/build.ts';
import { NOW_MS, syntheticJobs } from './synthetic-catalogue.ts';

export const LARGE = 'large.example.com' as CompanyDomain;
/** The smallest in which the large company has as many jobs as in a million. */
export const SMALL_DATA_JOB_COUNT = 100_000;
/** Jobs of the large company; in a catalogue with fewer than five times as many, a fifth of it. */
const LARGE_JOBS = 20_000;
export const EVENTS_A_JOB = 3;
/** Events of one import, which all have its time. */
const IMPORT_EVENTS = 5000;
/** Coprime to the number of jobs, so that every job gets its share of events, in an order unlike that of the jobs. */
const EVENT_STEP = 7919;
const DAY_MS = 86_400_000;

/** The synthetic jobs, some of them with the large company as theirs. */
export function* jobsOfDataCatalogue(jobCount: number): Generator<Job> {
  const every = Math.max(5, Math.floor(jobCount / LARGE_JOBS));
  let index = 0;
  for (const job of syntheticJobs(jobCount, 'beside skills')) {
    const isLarge = index++ % every === 0;
    yield isLarge ? { ...job, company: 'Large', companyDomain: LARGE, companyAliases: [] } : job;
  }
}

/** One event in ten thousand is a reopening; the other kinds take turns. */
const kindOf = (serial: number): HistoryKind => (serial % 10_000 === 0 ? 'reopened' : HISTORY_KINDS[serial % 3]!);

/** The event of a number, 1 to three times the jobs. */
export function eventAt(serial: number, jobCount: number): RecordedEvent {
  const eventCount = jobCount * EVENTS_A_JOB;
  const first = Math.floor(serial / IMPORT_EVENTS) * IMPORT_EVENTS;
  const kind = kindOf(serial);
  return {
    serial,
    kind,
    observedMs: NOW_MS - 60 * DAY_MS + Math.floor((first / eventCount) * 60 * DAY_MS),
    title: null,
    changes: kind === 'changed' ? [{ field: 'location', previous: `Place ${serial % 97}`, current: 'Berlin' }] : [],
  };
}

/** Index of the job of an event. */
export const jobOfEvent = (serial: number, jobCount: number): number => (serial * EVENT_STEP) % jobCount;

async function write(path: string, jobCount: number): Promise<void> {
  const spill = openSpillFile(path);
  const builder = new SnapshotBuilder({ spill });
  const jobs: EventJob[] = [];
  for (const job of jobsOfDataCatalogue(jobCount)) {
    builder.add(job);
    const { company, companyDomain, id, title } = job;
    jobs.push({ company, companyDomain, id, title });
  }
  for (let serial = 1; serial <= jobCount * EVENTS_A_JOB; serial++) {
    builder.addEvent(eventAt(serial, jobCount), jobs[jobOfEvent(serial, jobCount)]!);
  }
  const facts = { builtAtMs: NOW_MS, sourceRows: jobCount, rejectedRows: 0, skillsVersion: '0' };
  await writeSnapshotFile(path, builder.finish(() => facts).chunks);
  spill.close();
}

/** Writes the file in a separate process, whose memory is freed before any measurement. */
export function writeDataCatalogue(path: string, jobCount: number): void {
  const child = spawnSync(process.execPath, [fileURLToPath(import.meta.url), path, String(jobCount)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (child.status !== 0) throw new Error(`building the catalogue ended with ${child.status ?? child.signal}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [path, jobCount] = process.argv.slice(2);
  if (path === undefined || !(Number(jobCount) > 0)) throw new Error('usage: data-catalogue.ts FILE JOBS');
  await write(path, Number(jobCount));
}
