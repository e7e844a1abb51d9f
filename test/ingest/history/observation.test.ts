/** What a feed changes about a job, case by case; feeds in any order of arrival are in test/storage/history. */
import { describe, expect, it } from 'vitest';
import {
  type Facts,
  isLatestSighting,
  isUnhealthy,
  type KnownJob,
  missed,
  type Outcome,
  type Sighting,
  sighted,
  usualRows,
} from '../../../src/ingest/history/observation.ts';
import { minimalJob } from '../../support/minimal-job.ts';

const FACTS: Facts = { job: minimalJob({}), descriptionDigest: null, hasOwnSkills: false, isSourceClosed: false };

const seenAt = (atMs: number, changes: Partial<Sighting> = {}): Sighting => ({
  ...FACTS,
  ...{ atMs, firstMs: atMs, lastMs: atMs, sourceClosedMs: atMs },
  ...changes,
});

const known = (
  firstMs: number,
  lastMs: number,
  closedMs: number | null,
  changes: Partial<KnownJob> = {},
): KnownJob => ({
  ...FACTS,
  ...{ firstMs, lastMs, presentMs: lastMs, closedMs },
  ...changes,
});

const CLOSED = { isSourceClosed: true };

/** The log in words, and how the outcome is counted. */
const told = ({ log, isNew, isChanged, isClosed, isReopened }: Outcome): string[] => [
  ...log.map((entry) => `${entry.atMs} ${entry.kind === 'changed' ? entry.field : entry.kind}`),
  ...Object.entries({ isNew, isChanged, isClosed, isReopened }).flatMap(([name, is]) => (is ? [name] : [])),
];

describe('a job', () => {
  it.each<[what: string, outcome: () => Outcome, words: string[], closedMs: number | null]>([
    ['that is new', () => sighted(undefined, seenAt(2), [2]), ['2 opened', 'isNew'], null],
    [
      'that is new, from a feed after which two complete ones came',
      () => sighted(undefined, seenAt(2), [2, 3, 5]),
      ['2 opened', '5 closed', 'isNew', 'isClosed'],
      5,
    ],
    ['that is closed when first seen', () => sighted(undefined, seenAt(2, CLOSED), []), ['2 closed', 'isNew'], 2],
    [
      'that is closed when first seen, and states an earlier observation',
      () => sighted(undefined, seenAt(4, { ...CLOSED, firstMs: 1, sourceClosedMs: 3 }), []),
      ['1 opened', '3 closed', 'isNew'],
      3,
    ],
    ['that one complete feed lacks', () => missed(known(1, 1, null), [1, 2]), [], null],
    ['that a second one lacks', () => missed(known(1, 1, null), [1, 2, 3]), ['3 closed', 'isClosed'], 3],
    ['that one lacks which comes between two others', () => missed(known(1, 1, 4), [1, 2, 3, 4]), ['3 closed'], 3],
    ['that its source closed', () => missed(known(1, 1, 1, CLOSED), [1, 2, 3]), [], 1],
    ['that returns', () => sighted(known(1, 1, 3), seenAt(5), [2, 3]), ['5 reopened', 'isReopened'], null],
    [
      'that returned between two closings',
      () => sighted(known(1, 1, 3), seenAt(5), [2, 3, 6, 7]),
      ['5 reopened', '7 closed', 'isClosed', 'isReopened'],
      7,
    ],
    [
      'that was there before its closing',
      () => sighted(known(1, 1, 3), seenAt(2), [3]),
      ['3 reopened', 'isReopened'],
      null,
    ],
    [
      'that was there on the day of its closing',
      () => sighted(known(1, 1, 3), seenAt(3), []),
      ['3 reopened', 'isReopened'],
      null,
    ],
    [
      'whose closing belongs one feed later',
      () => sighted(known(1, 1, 3), seenAt(2), [3, 4]),
      ['3 reopened', '4 closed'],
      4,
    ],
    [
      'that was there on the day of its closing, which belongs later',
      () => sighted(known(1, 1, 3), seenAt(3), [2, 3, 4, 5]),
      ['3 reopened', '5 closed'],
      5,
    ],
    ['that was closed on an earlier day', () => sighted(known(4, 6, null), seenAt(2, CLOSED), []), [], null],
    ['that is told once more of its first day', () => sighted(known(4, 6, null), seenAt(4), []), [], null],
    ['that its source closes earlier', () => sighted(known(1, 1, 7), seenAt(5, CLOSED), []), ['5 closed'], 5],
    [
      'that was closed on the day when its source closed it, by its words earlier',
      () => sighted(known(1, 1, 5), seenAt(5, { ...CLOSED, sourceClosedMs: 3 }), []),
      [],
      5,
    ],
    ['that opened earlier than known', () => sighted(known(4, 6, null), seenAt(2), []), ['2 opened'], null],
    ['that its source closes', () => sighted(known(1, 3, null), seenAt(5, CLOSED), []), ['5 closed', 'isClosed'], 5],
    ['that was closed when its source closes it', () => sighted(known(1, 1, 3), seenAt(5, CLOSED), []), [], 3],
  ])('%s', (_, outcome, words, closedMs) => {
    expect(told(outcome())).toEqual(words);
    expect(outcome().next.closedMs).toBe(closedMs);
  });

  it.each<[what: string, job: KnownJob, late: Sighting, closedMs: number | null]>([
    ['said closed already: then from the earliest', known(5, 5, 5, CLOSED), seenAt(3, CLOSED), 3],
    ['said closed, though the job was open before its closing', known(2, 6, 5, CLOSED), seenAt(3, CLOSED), 5],
    ['had it open before its closing', known(1, 6, 5, CLOSED), seenAt(3), 5],
    ['had it open on the day of its closing', known(1, 6, 4, CLOSED), seenAt(4), 6],
    ['had it open after its closing', known(1, 6, 2, CLOSED), seenAt(4), 6],
  ])('that its source closed stays closed after a late feed that %s', (_, job, late, closedMs) => {
    expect(sighted(job, late, []).next.closedMs).toBe(closedMs);
  });

  it.each([
    [5, 5, true],
    [3, 6, false],
    [4, 5, true],
    [4, 4, false],
    [4, 3, false],
  ])('known at 4 has the facts of a record last observed at %i in a feed of %i: %s', (lastMs, atMs, isLatest) => {
    expect(isLatestSighting(known(1, 4, null), seenAt(atMs, { lastMs }))).toBe(isLatest);
  });
});

describe('a change', () => {
  const facts = (changes: Partial<Facts> & { readonly title?: string; readonly skills?: string[] }): Partial<Facts> => {
    const { title = 'Cook', skills = [], ...rest } = changes;
    return { job: minimalJob({ title, skills }), ...rest };
  };
  const own = (...skills: string[]): Partial<Facts> => facts({ skills, hasOwnSkills: true });

  it.each<[what: string, before: Partial<Facts>, after: Partial<Facts>, fields: string[]]>([
    ['a title', facts({}), facts({ title: 'Chef' }), ['title']],
    ['nothing', facts({}), facts({}), []],
    ['a first location', facts({}), { job: minimalJob({ title: 'Cook', location: 'Paris' }) }, ['location']],
    ['a first description', facts({}), facts({ descriptionDigest: 'a' }), []],
    ['a description', facts({ descriptionDigest: 'a' }), facts({ descriptionDigest: 'b' }), ['description']],
    ['no description any more', facts({ descriptionDigest: 'a' }), facts({}), []],
    ['no description, of a source that names skills', facts({ descriptionDigest: 'a' }), own(), []],
    ['the order of skills', own('a', 'b'), own('b', 'a'), []],
    ['one of the skills', own('a', 'b'), own('a', 'c'), ['skills']],
    ['a skill more', own('a'), own('a', 'b'), ['skills']],
    ['a skill fewer', own('a', 'b'), own('a'), ['skills']],
    ['skills that were extracted', facts({ skills: ['a'] }), facts({ skills: ['b'] }), []],
    ['skills that its source names now', facts({ skills: ['a'] }), own('b'), []],
    ['skills that its source named', own('a'), facts({ skills: ['b'] }), []],
  ])('is or is not: %s', (_, before, after, fields) => {
    const outcome = sighted(known(1, 1, null, before), seenAt(2, after), []);
    expect(told(outcome)).toEqual([
      ...fields.map((field) => `2 ${field}`),
      ...(fields.length > 0 ? ['isChanged'] : []),
    ]);
  });

  it.each<[what: string, before: Partial<Facts>, after: Partial<Facts>, skills: string[]]>([
    ['the same title', facts({ descriptionDigest: 'd', skills: ['a'] }), facts({ skills: ['b'] }), ['a']],
    [
      'another title',
      facts({ descriptionDigest: 'd', skills: ['a'] }),
      facts({ title: 'Chef', skills: ['b', 'a'] }),
      ['b', 'a'],
    ],
    [
      'another title, where the source named the skills',
      facts({ descriptionDigest: 'd', skills: ['a'], hasOwnSkills: true }),
      facts({ title: 'Chef', skills: ['b'] }),
      ['a'],
    ],
    ['skills of its own', facts({ descriptionDigest: 'd', skills: ['a'] }), own('b'), ['b']],
  ])(
    'of a feed without descriptions keeps the known one, and the skills that it does not name: %s',
    (_, before, after, skills) => {
      const { next } = sighted(known(1, 1, null, before), seenAt(2, after), []);
      expect([next.descriptionDigest, next.job.skills]).toEqual(['d', skills]);
    },
  );
});

describe('a feed', () => {
  it.each<[earlier: number[], usual: number | null]>([
    [[], null],
    [[7], 7],
    [[10, 2], 6],
    [[10, 9, 2], 9],
    [[1, 100, 3, 5], 4],
  ])('after feeds of %j rows usually has %s', (earlier, usual) => {
    expect(usualRows(earlier)).toBe(usual);
  });

  it.each([
    [2, 5, true],
    [3, 6, false],
    [3, 5, false],
    [3, 7, true],
    [0, null, false],
  ])('of %i rows where %s are usual is unhealthy: %s', (rows, usual, is) => {
    expect(isUnhealthy(rows, usual)).toBe(is);
  });
});
