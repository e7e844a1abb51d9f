/** The history of a snapshot against a plain list of its events. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CompanyDomain } from '../../../src/catalogue/company-domain.ts';
import type { EventJob, RecordedEvent } from '../../../src/catalogue/packed/history-build.ts';
import { CHANGED_FIELDS, derivedEventId, HISTORY_KINDS, NO_ROW } from '../../../src/catalogue/packed/history-event.ts';
import { SnapshotBuilder } from '../../../src/catalogue/snapshot/build.ts';
import { openSnapshot, type Snapshot } from '../../../src/catalogue/snapshot/snapshot.ts';
import { memorySource } from '../../../src/catalogue/snapshot/source.ts';
import { generatedJobs, SeededChance } from '../../support/generated-catalogue.ts';
import { minimalJob } from '../../support/minimal-job.ts';
import { bytesOfJobs, FACTS, openedJobs } from '../../support/opened-jobs.ts';
import { partOf } from '../../support/whole.ts';

const JOBS = Array.from({ length: 6 }, (_, i) =>
  minimalJob({ id: `job ${i}`, title: `Title ${i}`, lastObservedMs: i }),
);
const ABSENT: EventJob = {
  id: 'gone',
  title: 'Old title',
  company: 'Gone & Co',
  companyDomain: 'gone.example' as CompanyDomain,
};

const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant(null));
const change = fc.record({ field: fc.constantFrom(...CHANGED_FIELDS), previous: text, current: text });
const recorded = fc.record({
  job: fc.integer({ min: 0, max: JOBS.length }),
  kind: fc.constantFrom(...HISTORY_KINDS),
  observedMs: fc.integer({ min: -5, max: 5 }),
  title: text,
  changes: fc.oneof(fc.constant([]), fc.array(change, { maxLength: 4 })),
  step: fc.integer({ min: 1, max: 1000 }),
});

function builtWith(events: readonly RecordedEvent[], jobOf: (index: number) => EventJob): Snapshot {
  const builder = new SnapshotBuilder();
  for (const job of JOBS) builder.add(job);
  for (const [index, event] of events.entries()) builder.addEvent(event, jobOf(index));
  return openSnapshot(memorySource('x', Buffer.concat([...builder.finish(() => FACTS).chunks])));
}

const rowsById = (snapshot: Snapshot): Map<string, number> =>
  new Map(Array.from({ length: snapshot.rowCount }, (_, row) => [snapshot.cold.rowAt(row).id, row]));

describe('a recorded history', () => {
  it('comes back event by event, and by job in the order of observation', () => {
    fc.assert(
      fc.property(fc.array(recorded, { minLength: 1, maxLength: 60 }), (drawn) => {
        let serial = 0;
        const events = drawn.map(({ step, job: _, ...event }): RecordedEvent => {
          serial += step;
          return { ...event, serial };
        });
        const jobOf = (index: number): EventJob => JOBS[drawn[index]!.job] ?? ABSENT;
        const snapshot = builtWith(events, jobOf);
        const rows = rowsById(snapshot);
        const expected = events.map(({ serial: number, title, ...event }, index) => {
          const job = jobOf(index);
          const { title: _, ...absentJob } = ABSENT;
          return {
            ...event,
            id: `ev_${number}`,
            jobId: job.id,
            row: rows.get(job.id) ?? null,
            absentJob: job === ABSENT ? absentJob : null,
            title: title ?? job.title,
          };
        });
        const { history } = snapshot;
        expect(history.count).toBe(events.length);
        expect(expected.flatMap((_, position) => history.eventsAt([position]))).toEqual(expected);
        for (const row of rows.values()) {
          const own = expected.filter((event) => event.row === row);
          own.sort((a, b) => a.observedMs - b.observedMs);
          expect(history.eventsAt([...history.positionsOfJob(row)])).toEqual(own);
        }
        const columns = history.columnsAt(0, events.length);
        expect([...columns.times]).toEqual(events.map(({ observedMs }) => observedMs));
        expect([...columns.kinds]).toEqual(events.map(({ kind }) => HISTORY_KINDS.indexOf(kind)));
        expect([...columns.rows]).toEqual(expected.map(({ row }) => row ?? NO_ROW));
        expect([...columns.serials]).toEqual(events.map((event) => event.serial));
      }),
      { numRuns: partOf(150) },
    );
  });
});

describe('the history of jobs that come without one', () => {
  const allEventsOf = ({ history }: Snapshot) => history.eventsAt([...Array(history.count).keys()]);
  const jobs = generatedJobs(new SeededChance(3), { jobCount: 400, closedPercent: 30 });

  it('is a first observation of each, and the closing of closed ones, by time and then by id', () => {
    const snapshot = openedJobs(jobs);
    const expected = jobs.flatMap(({ closedAtMs, firstObservedMs, id }) => [
      { id, atMs: firstObservedMs, kind: 'first_observed' },
      ...(closedAtMs === null ? [] : [{ id, atMs: closedAtMs, kind: 'closed' }]),
    ]);
    const order = HISTORY_KINDS.toReversed() as readonly string[];
    expected.sort(
      (a, b) => a.atMs - b.atMs || (a.id < b.id ? -1 : a.id > b.id ? 1 : order.indexOf(b.kind) - order.indexOf(a.kind)),
    );
    const found = allEventsOf(snapshot);
    expect(
      found.map(({ kind, observedMs, row }) => ({ id: snapshot.cold.rowAt(row!).id, atMs: observedMs, kind })),
    ).toEqual(expected);
    expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
    expect(found.every(({ absentJob, changes }) => absentJob === null && changes.length === 0)).toBe(true);
  });

  it('has ids that no release changes: customers keep them, and cursors go by their order', () => {
    expect(derivedEventId('job 1', 'closed', 1_700_000_000_000)).toBe('ev_BwNOR6RimbaylpWGVq6Kth');
  });

  it('keeps the ids of its events when jobs are added', () => {
    const idsOf = (snapshot: Snapshot): string[] => allEventsOf(snapshot).map(({ id }) => id);
    const all = new Set(idsOf(openedJobs(jobs)));
    expect(idsOf(openedJobs(jobs.slice(0, 150))).filter((id) => !all.has(id))).toEqual([]);
  });

  it('lists closings newest first, then by id', () => {
    const snapshot = openedJobs(new SeededChance(4).shuffled(jobs));
    const closed = jobs.filter(({ status }) => status === 'closed');
    closed.sort((a, b) => b.closedAtMs! - a.closedAtMs! || (a.id < b.id ? -1 : 1));
    expect(Array.from(snapshot.closings, (row) => snapshot.cold.rowAt(row).id)).toEqual(closed.map(({ id }) => id));
    expect(Array.from(snapshot.closings, (row) => snapshot.closedAt(row))).toEqual(
      closed.map(({ closedAtMs }) => closedAtMs),
    );
    expect(snapshot.closedAt(0)).toBe(null);
  });

  it('is none of no jobs', () => {
    const snapshot = openSnapshot(memorySource('x', bytesOfJobs([])));
    expect(snapshot.history.count).toBe(0);
  });
});
