/** Feeds of one board in any order of arrival, against a model that looks at all of them at once, in the order of their times. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { leverShape } from '../../../src/ingest/shapes/lever.ts';
import { HistoryDatabase } from '../../../src/storage/history/database.ts';
import { eventsIn } from '../../../src/storage/history/history-query.ts';
import { HistoryImport } from '../../../src/storage/history/import.ts';
import { JOBS, storedJobOf } from '../../../src/storage/history/stored-job.ts';
import { minimalJob } from '../../support/minimal-job.ts';
import { partOf } from '../../support/whole.ts';

// The properties are about what is remembered, not about a crash of the machine: a disk would only be waited for.
const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'paygrade-history-'));
afterAll(() => rmSync(folder, { recursive: true }));

const IDS = ['a', 'b', 'c'] as const;

interface Feed {
  /** Day, which is also its place in time. */
  readonly at: number;
  readonly isComplete: boolean;
  /** Title by id; absent: the feed does not have the job. */
  readonly titles: Readonly<Record<string, string>>;
}

interface ModelJob {
  readonly first: number;
  readonly last: number;
  readonly title: string;
  readonly closed: number | null;
  readonly events: readonly string[];
}

function modelOf(feeds: readonly Feed[], id: string): ModelJob | undefined {
  let job: { first: number; last: number; title: string; closed: number | null } | undefined;
  let misses = 0;
  const events: string[] = [];
  for (const { at, isComplete, titles } of [...feeds].sort((x, y) => x.at - y.at)) {
    const title = titles[id];
    if (title !== undefined) {
      misses = 0;
      if (job === undefined) {
        job = { first: at, last: at, title, closed: null };
        events.push(`${at} opened`);
        continue;
      }
      if (job.closed !== null) events.push(`${at} reopened`);
      if (job.title !== title) events.push(`${at} changed`);
      Object.assign(job, { last: at, title, closed: null });
    } else if (job !== undefined && isComplete) {
      misses++;
      if (misses !== 2) continue;
      job.closed = at;
      events.push(`${at} closed`);
    }
  }
  return job && { ...job, events };
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
let catalogues = 0;

/** In place of a feed: the source says at that day that its listing is unchanged. */
interface Repeat {
  readonly at: number;
  readonly isRepeat: true;
}

/** @param closed a title whose jobs their source says are closed */
function imported(feeds: readonly (Feed | Repeat)[], closed?: string): Map<string, ModelJob> {
  const catalogue = join(folder, String(catalogues++));
  for (const feed of feeds) {
    const history = HistoryDatabase.openForImport(catalogue);
    const merging = new HistoryImport(history, { mayHaveDays: false, skillsVersion: 'v' });
    if ('isRepeat' in feed) {
      merging.repeatLast('lever', 'acme', feed.at);
      merging.commit();
      history.close();
      continue;
    }
    const { at, isComplete, titles } = feed;
    const document = { member: { name: 'm', fileName: 'm', bytes: nothing() }, fetchedAtMs: null };
    merging.begin(at);
    for (const [id, title] of Object.entries(titles)) {
      const texts = { description: null, descriptionText: null };
      const source = { shape: leverShape, board: 'acme', ...texts, hasOwnSkills: false, document };
      merging.add(minimalJob({ id, title, status: title === closed ? 'closed' : 'active' }), source);
    }
    merging.merge(isComplete, true, () => {});
    merging.commit();
    history.close();
  }
  const history = HistoryDatabase.openForReading(catalogue);
  const events = [...eventsIn(history, {})];
  const jobs = new Map<string, ModelJob>();
  for (const row of history.rows(JOBS)) {
    const { job, firstMs, lastMs, closedMs } = storedJobOf(history, row as Record<string, unknown>);
    const own = events.filter(({ id }) => id === job.id).map(({ atMs, kind }) => `${atMs} ${kind}`);
    jobs.set(job.id, { first: firstMs, last: lastMs, title: job.title, closed: closedMs, events: own });
  }
  history.close();
  return jobs;
}

const feeds = fc.uniqueArray(fc.integer({ min: 1, max: 99 }), { minLength: 1, maxLength: 7 }).chain((days) =>
  fc.tuple(
    ...days.map((at) =>
      fc.record({
        at: fc.constant(at),
        isComplete: fc.boolean(),
        titles: fc
          .tuple(...IDS.map(() => fc.option(fc.constantFrom('x', 'y'), { nil: undefined })))
          .filter((titles) => titles.some((title) => title !== undefined))
          .map((titles) =>
            Object.fromEntries(
              IDS.flatMap((id, i) => (titles[i] === undefined ? [] : [[id, titles[i]] as [string, string]])),
            ),
          ),
      }),
    ),
  ),
);

/** Rare among those that are made at random. */
const CHANGED_WHEN_REOPENED: Feed[] = [
  { at: 1, isComplete: false, titles: { c: 'x' } },
  { at: 2, isComplete: true, titles: { b: 'x' } },
  { at: 3, isComplete: true, titles: { b: 'x' } },
  { at: 4, isComplete: false, titles: { c: 'y' } },
];

/** What happens to `a` hangs on how often the second feed counts. */
const MISSED_ONCE: Feed[] = [
  { at: 1, isComplete: true, titles: { a: 'x', b: 'x' } },
  { at: 2, isComplete: true, titles: { b: 'x', c: 'x' } },
];
const MISSED_TWICE: Feed[] = [...MISSED_ONCE, { at: 3, isComplete: true, titles: { b: 'x', c: 'x' } }];

/** For repeats of each feed, and for one that comes after the second feed but before its time. */
const REPEATED: Feed[] = [
  { at: 1, isComplete: true, titles: { a: 'x', b: 'x' } },
  { at: 5, isComplete: false, titles: { a: 'x' } },
];

/** The closing at 12 was already found to be too late when a sighting withdraws the one at 6. */
const LATE_TWICE: Feed[] = [
  { at: 12, isComplete: true, titles: { a: 'x' } },
  { at: 4, isComplete: true, titles: { b: 'x' } },
  { at: 5, isComplete: true, titles: { a: 'x' } },
  { at: 6, isComplete: true, titles: { a: 'x' } },
  { at: 7, isComplete: true, titles: { b: 'x' } },
];

describe('the history', () => {
  it('follows the feeds when they come in the order of their times', { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(feeds, (given) => {
        const known = imported([...given].sort((x, y) => x.at - y.at));
        for (const id of IDS) expect(known.get(id)).toEqual(modelOf(given, id));
      }),
      { numRuns: partOf(40), examples: [[CHANGED_WHEN_REOPENED]] },
    );
  });

  it('has the same facts of each job for any order of feeds, and its log leads to them', { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(feeds, (given) => {
        const known = imported(given);
        for (const id of IDS) {
          const { events: _, ...expected } = modelOf(given, id) ?? {};
          const { events = [], ...found } = known.get(id) ?? {};
          expect(found).toEqual(expected);
          if (!known.has(id)) continue;
          expect(events[0]).toBe(`${known.get(id)?.first} opened`);
          const ended = events.filter((event) => !event.endsWith('changed')).at(-1);
          expect(ended?.endsWith('closed')).toBe(known.get(id)?.closed !== null);
          if (known.get(id)?.closed !== null) expect(events).toContain(`${known.get(id)?.closed} closed`);
        }
      }),
      { numRuns: partOf(60), examples: [[LATE_TWICE]] },
    );
  });

  it('takes an unchanged listing for the last feed read once more', { timeout: 120_000 }, () => {
    const repeats = fc.array(fc.record({ after: fc.nat(), at: fc.integer({ min: 2, max: 140 }) }), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(feeds, fc.boolean(), fc.option(fc.constant('y')), repeats, (given, isInOrder, closed, places) => {
        const ordered = isInOrder ? [...given].sort((x, y) => x.at - y.at) : given;
        const short: (Feed | Repeat)[] = [];
        const whole: Feed[] = [];
        for (const [index, feed] of ordered.entries()) {
          short.push(feed);
          whole.push(feed);
          for (const { at } of places.filter(({ after }) => after % ordered.length === index)) {
            const last = whole.filter((one) => one.at < at).sort((x, y) => y.at - x.at)[0];
            // Feeds of one day are one feed.
            if (last === undefined || [...ordered, ...whole].some((one) => one.at === at)) continue;
            short.push({ at, isRepeat: true });
            whole.push({ ...last, at });
          }
        }
        expect([...imported(short, closed ?? undefined)]).toEqual([...imported(whole, closed ?? undefined)]);
      }),
      {
        numRuns: partOf(60, 30),
        examples: [
          [
            REPEATED,
            true,
            null,
            [
              { after: 0, at: 2 },
              { after: 1, at: 6 },
            ],
          ],
          [
            REPEATED,
            true,
            null,
            [
              { after: 0, at: 2 },
              { after: 1, at: 3 },
            ],
          ],
        ],
      },
    );
  });

  it('does not change when a feed is read again', { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(feeds, fc.nat(), (given, which) => {
        const again = given[which % given.length] as Feed;
        const expected = [...imported(given)];
        expect([...imported([...given, again])]).toEqual(expected);
        // A part of it may be read again too, such as one of its files.
        expect([...imported([...given, { ...again, isComplete: false }])]).toEqual(expected);
      }),
      { numRuns: partOf(30, 15), examples: [[MISSED_ONCE, 1]] },
    );
  });

  it('takes a feed whose files are read one after the other as one that is read at once', { timeout: 120_000 }, () => {
    const facts = (jobs: Map<string, ModelJob>) =>
      [...jobs].map(([id, { events: _, ...job }]) => ({ id, ...job })).sort((a, b) => (a.id < b.id ? -1 : 1));
    fc.assert(
      fc.property(feeds, fc.nat(), fc.constantFrom(...IDS), fc.boolean(), (given, which, id, isFirstComplete) => {
        const place = which % given.length;
        const whole = { ...(given[place] as Feed), isComplete: true };
        const { [id]: title, ...others } = whole.titles;
        fc.pre(title !== undefined && Object.keys(others).length > 0);
        const files: Feed[] = isFirstComplete
          ? [
              { ...whole, titles: others },
              { ...whole, isComplete: false, titles: { [id]: title as string } },
            ]
          : [{ ...whole, isComplete: false }, whole];
        expect(facts(imported(given.toSpliced(place, 1, ...files)))).toEqual(facts(imported(given.with(place, whole))));
      }),
      {
        numRuns: partOf(30, 15),
        examples: [true, false].map((isFirstComplete) => [MISSED_TWICE, 1, 'c', isFirstComplete]),
      },
    );
  });
});
