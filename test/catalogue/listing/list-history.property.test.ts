/** The feed of events and the events of a job against plain lists, and feeds that are followed over later states. */
import { describe, expect, it } from 'vitest';
import { Catalogue } from '../../../src/catalogue/catalogue.ts';
import type { CompanyDomain } from '../../../src/catalogue/company-domain.ts';
import type { Job } from '../../../src/catalogue/job.ts';
import { POSITION_BYTES_MAX } from '../../../src/catalogue/limits.ts';
import { feedPositionAt } from '../../../src/catalogue/listing/feed-positions.ts';
import { listHistory, listJobHistory } from '../../../src/catalogue/listing/list-history.ts';
import type { HistoryFilters, HistoryPage, ListedEvent } from '../../../src/catalogue/listing/listing-answers.ts';
import { HISTORY_KINDS, type HistoryKind } from '../../../src/catalogue/packed/history-event.ts';
import { generatedJobs, NOW_MS, SeededChance } from '../../support/generated-catalogue.ts';
import { type GeneratedEvent, generatedEvents, openedHistory } from '../../support/generated-events.ts';
import { minimalJob } from '../../support/minimal-job.ts';
import { newestFirst } from '../../support/naive-catalogue.ts';
import { openedJobs } from '../../support/opened-jobs.ts';
import { partOf } from '../../support/whole.ts';

const HOUR_MS = 3_600_000;
const byCodeUnit = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** What a test compares; the ids of derived events are the engine's own. */
type Plain = Omit<ListedEvent, 'id'>;
const plain = ({ id: _, ...event }: ListedEvent): Plain => event;

/** By domain, or by id where a job has none: the name that its company shows. */
function shownNames(jobs: readonly Job[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const status of ['active', 'closed']) {
    for (const job of jobs.filter((one) => one.status === status).sort(newestFirst)) {
      if (job.companyDomain !== null && !names.has(job.companyDomain)) names.set(job.companyDomain, job.company);
    }
  }
  return names;
}

function recordedFeed(jobs: readonly Job[], events: readonly GeneratedEvent[]): Plain[] {
  const names = shownNames(jobs);
  const held = new Map(jobs.map((job) => [job.id, job]));
  return events.map(({ event, job }) => ({
    jobId: job.id,
    kind: event.kind,
    observedMs: event.observedMs,
    title: event.title ?? job.title,
    company: {
      name: held.has(job.id) && job.companyDomain !== null ? names.get(job.companyDomain)! : job.company,
      domain: job.companyDomain,
    },
    changes: event.changes,
  }));
}

function derivedFeed(jobs: readonly Job[]): Plain[] {
  const names = shownNames(jobs);
  const eventOf = (job: Job, kind: HistoryKind, observedMs: number): Plain => ({
    jobId: job.id,
    kind,
    observedMs,
    title: job.title,
    company: { name: names.get(job.companyDomain ?? '') ?? job.company, domain: job.companyDomain },
    changes: [],
  });
  return jobs
    .flatMap((job) => [
      eventOf(job, 'first_observed', job.firstObservedMs),
      ...(job.closedAtMs === null ? [] : [eventOf(job, 'closed', job.closedAtMs)]),
    ])
    .sort(compareDerived);
}

const compareDerived = (a: Plain, b: Plain): number =>
  a.observedMs - b.observedMs || byCodeUnit(a.jobId, b.jobId) || -byCodeUnit(a.kind, b.kind);

const matching = (feed: readonly Plain[], filters: HistoryFilters): Plain[] =>
  feed.filter(
    ({ company, kind, observedMs }) =>
      (filters.kind === undefined || kind === filters.kind) &&
      (filters.company === undefined || company.domain === filters.company) &&
      observedMs >= (filters.sinceMs ?? Number.NEGATIVE_INFINITY) &&
      observedMs < (filters.untilMs ?? Number.POSITIVE_INFINITY),
  );

function generatedFilters(chance: SeededChance, feed: readonly Plain[]): HistoryFilters {
  const some = (): Plain => chance.oneOf(feed);
  const at = (): number => some().observedMs + chance.oneOf([0, 0, 1, -1, HOUR_MS]);
  return {
    ...(chance.is(30) ? { sinceMs: at() } : {}),
    ...(chance.is(30) ? { untilMs: at() } : {}),
    ...(chance.is(40) ? { kind: chance.oneOf(HISTORY_KINDS) } : {}),
    ...(chance.is(40) ? { company: chance.oneOf(['acme.com', 'globex.io', 'unknown.example']) as CompanyDomain } : {}),
  };
}

interface Chain {
  readonly events: Plain[];
  /** null = the end of a feed that has one. */
  readonly end: Uint8Array | null;
}

/** A feed to its end: until a page is not full, or there is no next one. */
function chainOf(catalogue: Catalogue, filters: HistoryFilters, limit: number, from?: Uint8Array): Chain {
  const events: Plain[] = [];
  let after = from;
  for (;;) {
    const page: HistoryPage = listHistory(catalogue, filters, after, limit)!;
    events.push(...page.events.map(plain));
    if (page.next === null) return { events, end: null };
    expect(page.next.length).toBeLessThanOrEqual(POSITION_BYTES_MAX);
    if (page.events.length < limit) return { events, end: page.next };
    after = page.next;
  }
}

const chance = new SeededChance(77);
const jobs = generatedJobs(chance, { jobCount: 300, closedPercent: 30 }).map((job) => ({ ...job, description: null }));
const events = generatedEvents(chance, jobs, 2600);
// Names by text alone would need the rules of companies here; their names are one spelling each.
const LONG = `https://jobs.example.com/${'ü'.repeat(120)}/`;
const longJobs = jobs.map((job, i): Job => (i % 3 === 0 ? job : { ...job, id: `${LONG}${job.id}` }));

const FEEDS: readonly (readonly [string, Catalogue, Plain[]])[] = [
  ['recorded', new Catalogue(openedHistory(jobs, events)), recordedFeed(jobs, events)],
  ['derived', new Catalogue(openedJobs(jobs)), derivedFeed(jobs)],
  ['derived from jobs with long ids', new Catalogue(openedJobs(longJobs)), derivedFeed(longJobs)],
];

/** Companies without a domain are one for all spellings of a name; only their name as shown may differ. */
const withoutNames = (list: readonly Plain[]): Plain[] =>
  list.map((event) => (event.company.domain === null ? { ...event, company: { name: '', domain: null } } : event));

describe.each(FEEDS)('a feed that is %s', (_, catalogue, feed) => {
  it('is what a plain filter gives, at every limit', () => {
    for (let i = 0; i < partOf(60, 20); i++) {
      const filters = generatedFilters(chance, feed);
      const expected = matching(feed, filters);
      const limit = chance.oneOf([7, 25, 100, Math.max(expected.length, 1), expected.length + 1]);
      const chain = chainOf(catalogue, filters, limit);
      expect(withoutNames(chain.events), JSON.stringify(filters)).toEqual(withoutNames(expected));
      expect(chain.end === null).toBe(filters.untilMs !== undefined);
    }
    for (const limit of [2, 99, 100]) {
      const kind = 'closed';
      expect(chainOf(catalogue, { kind }, limit).events).toHaveLength(matching(feed, { kind }).length);
    }
  });

  it('has no empty last page where it ends', () => {
    const untilMs = feed.at(-1)!.observedMs + 30 * 24 * HOUR_MS;
    const whole = listHistory(catalogue, { untilMs }, undefined, feed.length)!;
    expect([whole.events.length, whole.next]).toEqual([feed.length, null]);
    const almost = listHistory(catalogue, { untilMs }, undefined, feed.length - 1)!;
    expect(listHistory(catalogue, { untilMs }, almost.next!, 5)!.events).toHaveLength(1);
  });

  it('stays at its end while nothing comes', () => {
    const { end } = chainOf(catalogue, { kind: 'reopened' }, 100);
    expect(listHistory(catalogue, { kind: 'reopened' }, end!, 7)).toEqual({ events: [], next: end });
    expect(listHistory(catalogue, {}, end!, 7)).toEqual({ events: [], next: end });
  });

  it('gives the events of each job', () => {
    const { snapshot } = catalogue;
    for (let row = 0; row < snapshot.rowCount; row += 7) {
      const { id } = snapshot.cold.rowAt(row);
      const expected = feed.filter(({ jobId }) => jobId === id);
      expected.sort((a, b) => a.observedMs - b.observedMs);
      const limit = 1 + chance.below(6);
      const found: Plain[] = [];
      let after: Uint8Array | undefined;
      do {
        const page: HistoryPage = listJobHistory(catalogue, row, after, limit)!;
        found.push(...page.events.map(plain));
        if (page.next !== null) expect(page.events).toHaveLength(limit);
        after = page.next ?? undefined;
      } while (after !== undefined);
      expect(withoutNames(found)).toEqual(withoutNames(expected));
    }
  });
});

describe('a feed that is followed', () => {
  it.each([
    ['everything', {}],
    ['a company', { company: 'acme.com' as CompanyDomain }],
    ['a rare kind', { kind: 'reopened' as const }],
  ])('gives exactly what was recorded since, of %s', (_, filters: HistoryFilters) => {
    const steps = [0, 1, 700, 701, 2100, 2600];
    const seen: Plain[] = [];
    let after: Uint8Array | undefined;
    for (const count of steps) {
      const catalogue = new Catalogue(openedHistory(jobs, events.slice(0, count)));
      const chain =
        count === 0 ? { events: [], end: Uint8Array.of(0) } : chainOf(catalogue, filters, 1 + chance.below(99), after);
      if (count === 0)
        expect(listHistory(new Catalogue(openedJobs([])), filters, undefined, 5)!.next).toEqual(chain.end);
      seen.push(...chain.events);
      after = chain.end!;
      // A state before the position gives nothing, and keeps it.
      const earlier = new Catalogue(openedHistory(jobs, events.slice(0, Math.max(1, count - 300))));
      if (count > 0) expect(listHistory(earlier, filters, after, 5)).toEqual({ events: [], next: after });
    }
    expect(withoutNames(seen)).toEqual(withoutNames(matching(recordedFeed(jobs, events), filters)));
  });

  it('misses no event of a company that the catalogue did not know at first', () => {
    const filters = { company: 'acme.com' as CompanyDomain };
    const others = jobs.filter(({ companyDomain }) => companyDomain !== 'acme.com');
    const without = new Catalogue(openedHistory(others, events.slice(0, 700)));
    const first = listHistory(without, filters, undefined, 5)!;
    expect(first.events).toEqual([]);
    expect(listHistory(without, filters, first.next!, 5)).toEqual(first);
    const [, whole, feed] = FEEDS[0]!;
    expect(withoutNames(chainOf(whole, filters, 50, first.next!).events)).toEqual(
      withoutNames(matching(feed, filters)),
    );
    const { next: middle } = listHistory(without, {}, undefined, 300)!;
    expect(listHistory(without, filters, middle!, 5)).toEqual({ events: [], next: middle });
  });

  it.each([
    ['short', jobs],
    ['long', longJobs],
  ])('goes on behind the event it ended with when jobs come and go, with %s ids', (_, all) => {
    const catalogue = new Catalogue(openedJobs(all));
    const feed = derivedFeed(all);
    for (let round = 0; round < 12; round++) {
      const limit = 1 + chance.below(feed.length - 1);
      const { next } = listHistory(catalogue, {}, undefined, limit)!;
      const last = feed[limit - 1]!;
      const isGone = last.jobId.length < 50 && chance.is(50);
      const changed = all.map((job) =>
        chance.is(20) ? { ...job, lastObservedMs: NOW_MS + 48 * HOUR_MS, closedAtMs: null } : job,
      );
      const later = changed
        .map((job): Job => (job.closedAtMs === null ? { ...job, status: 'active' } : job))
        .filter((job) => (job.id === last.jobId ? !isGone : !chance.is(10)));
      const expected = derivedFeed(later).filter((event) => compareDerived(event, last) > 0);
      expect(withoutNames(chainOf(new Catalogue(openedJobs(later)), {}, 200, next!).events)).toEqual(
        withoutNames(expected),
      );
    }
  });

  it('repeats events rather than skip some when a job with a long id is gone', () => {
    const catalogue = new Catalogue(openedJobs(longJobs));
    const feed = derivedFeed(longJobs);
    const place = feed.findIndex(({ jobId }, i) => i > 100 && jobId.startsWith(LONG));
    const { next } = listHistory(catalogue, {}, undefined, place + 1)!;
    const later = longJobs.filter(({ id }) => id !== feed[place]!.jobId);
    const { events: found } = chainOf(new Catalogue(openedJobs(later)), {}, 200, next!);
    const expected = derivedFeed(later).filter((event) => compareDerived(event, feed[place]!) > 0);
    expect(withoutNames(found.slice(found.length - expected.length))).toEqual(withoutNames(expected));
    expect(found.every(({ observedMs }) => observedMs >= feed[place]!.observedMs)).toBe(true);
  });
});

it('searches 20,000 events for a job with a long id that was observed again, and without it repeats them all', () => {
  const jobs = Array.from({ length: 20_001 }, (_, i) => minimalJob({ id: `${LONG}${String(i).padStart(6, '0')}` }));
  const catalogue = new Catalogue(openedJobs(jobs));
  const firstAfter = (event: number): string | undefined => {
    const position = feedPositionAt(catalogue.snapshot, event);
    // The job's last observation was another one.
    new DataView(position.buffer).setFloat64(10, HOUR_MS);
    return listHistory(catalogue, {}, position, 1)!.events[0]?.jobId;
  };
  expect(firstAfter(19_999)).toBe(jobs[20_000]!.id);
  expect(firstAfter(20_000)).toBe(jobs[0]!.id);
});

describe('a position in a feed that is damaged', () => {
  const [recorded, derived, long] = FEEDS.map(([, catalogue]) => catalogue);
  const ofTime = (bytes: Uint8Array, ms: number): Uint8Array => {
    const altered = bytes.slice();
    new DataView(altered.buffer).setFloat64(1, ms);
    return altered;
  };
  const serial = listHistory(recorded!, {}, undefined, 5)!.next!;
  const byId = listHistory(derived!, {}, undefined, 5)!.next!;
  const longPlace = derivedFeed(longJobs).findIndex(({ jobId }) => jobId.startsWith(LONG));
  const byDigest = listHistory(long!, {}, undefined, longPlace + 1)!.next!;

  it.each([
    ['empty', new Uint8Array(0)],
    ['of an unknown form', Uint8Array.of(4, 0, 0, 0, 0)],
    ['the beginning and more', Uint8Array.of(0, 0)],
    ['a number that is too short', serial.subarray(0, 4)],
    ['a number that is too long', Uint8Array.of(...serial, 0)],
    ['without a time', ofTime(byId, Number.NaN)],
    ['of half a millisecond', ofTime(byId, 0.5)],
    ['without an id', byId.subarray(0, 10)],
    ['of no kind', byId.map((byte, i) => (i === 9 ? HISTORY_KINDS.length : byte))],
    ['with an id that is no UTF-8', Uint8Array.of(...byId.subarray(0, 10), 0xff)],
    ['too long', Uint8Array.of(...byId.subarray(0, 10), ...new Uint8Array(POSITION_BYTES_MAX - 9).fill(0x61))],
    ['a digest that is cut off', byDigest.subarray(0, POSITION_BYTES_MAX - 1)],
    ['a digest without a last observation', byDigest.map((byte, i) => (i >= 10 && i < 18 ? 0xff : byte))],
  ])('is none: %s', (_, bytes) => {
    for (const [, catalogue] of FEEDS) expect(listHistory(catalogue, {}, bytes, 5)).toBe(undefined);
  });

  it('is none in a feed of the other order', () => {
    expect([byId[0], byDigest[0], serial[0]]).toEqual([2, 3, 1]);
    expect(listHistory(recorded!, {}, byId, 5)).toBe(undefined);
    expect(listHistory(derived!, {}, serial, 5)).toBe(undefined);
    expect(listHistory(derived!, {}, Uint8Array.of(0), 5)!.events).toHaveLength(5);
  });

  it.each([
    ['empty', new Uint8Array(0)],
    ['of another length', new Uint8Array(8)],
    ['without a time', new Uint8Array(12).fill(0xff)],
  ])('of one job is none: %s', (_, bytes) => {
    expect(listJobHistory(recorded!, 0, bytes, 5)).toBe(undefined);
    expect(listJobHistory(derived!, 0, bytes.subarray(0, 9), 5)).toBe(undefined);
  });
});
