/** Histories from a seed, as a catalogue records them: late observations, ties in time, jobs that the snapshot does not hold. */
import type { CompanyDomain } from '../../src/catalogue/company-domain.ts';
import type { Job } from '../../src/catalogue/job.ts';
import type { EventJob, RecordedEvent } from '../../src/catalogue/packed/history-build.ts';
import { CHANGED_FIELDS, HISTORY_KINDS, type HistoryChange } from '../../src/catalogue/packed/history-event.ts';
import { SnapshotBuilder } from '../../src/catalogue/snapshot/build.ts';
import { openSnapshot, type Snapshot } from '../../src/catalogue/snapshot/snapshot.ts';
import { NOW_MS, type SeededChance } from './generated-catalogue.ts';
import { FACTS, forgetfulSource } from './opened-jobs.ts';

const HOUR_MS = 3_600_000;

export interface GeneratedEvent {
  readonly event: RecordedEvent;
  readonly job: EventJob;
}

/** Absent jobs have a company of the catalogue, another or none. */
const ABSENT: readonly EventJob[] = [
  { id: 'gone 1', title: 'Gone', company: 'Acme then', companyDomain: 'acme.com' as CompanyDomain },
  { id: 'gone 2', title: 'Gone', company: 'Elsewhere', companyDomain: 'elsewhere.example' as CompanyDomain },
  { id: 'gone 3', title: 'Gone', company: 'No domain', companyDomain: null },
];

function changesOf(chance: SeededChance): HistoryChange[] {
  return Array.from({ length: 1 + chance.below(2) }, (_, i) => ({
    field: CHANGED_FIELDS[(chance.below(5) + i) % CHANGED_FIELDS.length]!,
    previous: chance.is(30) ? null : `before ${chance.below(9)}`,
    current: chance.is(30) ? null : `after ${chance.below(9)}`,
  }));
}

/** Events of generated jobs with serials from `firstSerial` on. */
export function generatedEvents(
  chance: SeededChance,
  jobs: readonly Job[],
  count: number,
  firstSerial = 1,
): GeneratedEvent[] {
  let serial = firstSerial;
  let atMs = NOW_MS - 20 * 24 * HOUR_MS;
  return Array.from({ length: count }, (): GeneratedEvent => {
    serial += 1 + chance.below(3);
    if (chance.is(10)) atMs += chance.oneOf([1, HOUR_MS, 5 * HOUR_MS]);
    const kind = chance.is(1) ? 'reopened' : chance.oneOf(HISTORY_KINDS.slice(0, 3));
    const known = jobs.length === 0 || chance.is(8) ? undefined : chance.oneOf(jobs);
    return {
      event: {
        serial,
        kind,
        observedMs: chance.is(10) ? atMs - chance.below(200) * HOUR_MS : atMs,
        title: chance.is(30) ? `Title ${chance.below(50)}` : null,
        changes: kind === 'changed' ? changesOf(chance) : [],
      },
      job: known ?? chance.oneOf(ABSENT),
    };
  });
}

export function openedHistory(jobs: Iterable<Job>, events: readonly GeneratedEvent[]): Snapshot {
  const builder = new SnapshotBuilder();
  for (const job of jobs) builder.add(job);
  for (const { event, job } of events) builder.addEvent(event, job);
  return openSnapshot(forgetfulSource(Buffer.concat([...builder.finish(() => FACTS).chunks])));
}
