import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { htmlText } from '../../../src/ingest/input/html-text.ts';
import { parseNative } from '../../../src/ingest/native.ts';
import { loadSkillExtractor } from '../../../src/ingest/skills/skills.ts';
import { JOB_COUNT_MAX, type SynthOptions, synthRecords } from '../../../src/ingest/synth/synth.ts';
import { partOf } from '../../support/whole.ts';

const AS_OF_MS = Date.UTC(2026, 10, 21, 12, 34, 56, 789);
const DAY_MS = 86_400_000;
const extractor = loadSkillExtractor();

const options = (changes: Partial<SynthOptions>): SynthOptions => ({
  jobs: 1000,
  seed: 1,
  asOfMs: AS_OF_MS,
  descriptions: false,
  ...changes,
});

function hashOf(chosen: SynthOptions): string {
  const hash = createHash('sha256');
  for (const record of synthRecords(chosen)) hash.update(`${JSON.stringify(record)}\n`);
  return hash.digest('hex').slice(0, 16);
}

describe('the same options', () => {
  // The same on Node and Bun; a change of these lines changes every synthetic catalogue that was made before.
  test.each([
    [options({ seed: 1 }), '883410b782c6ccf2'],
    [options({ seed: 1, descriptions: true }), 'b139b5c8d77f0ab3'],
    [options({ seed: 2 }), 'ef8d18bcaded996e'],
    [options({ jobs: 1, seed: -1 }), '74e43f6e3b102a91'],
  ])('make the same records: %j', (chosen, hash) => {
    expect(hashOf(chosen)).toBe(hash);
  });

  test('make the same jobs with descriptions and without', () => {
    const withText = [...synthRecords(options({ descriptions: true }))];
    for (const [index, plain] of [...synthRecords(options({}))].entries()) {
      const { skills, ...rest } = plain;
      const { description, ...other } = withText[index]!;
      expect(other).toEqual(rest);
      expect(skills!.length).toBeGreaterThanOrEqual(2);
      expect(description!.length).toBeGreaterThan(400);
    }
  });
});

test('a description names the skills of its job and, but for its title, no others', () => {
  const jobs = partOf(3000);
  const plain = synthRecords(options({ jobs, seed: 3 }));
  for (const { title, description } of synthRecords(options({ jobs, seed: 3, descriptions: true }))) {
    const skills = new Set(plain.next().value!.skills);
    const inTitle = new Set(extractor.extract(title, null));
    const found = extractor.extract(title, htmlText(description!));
    for (const skill of skills) expect(found, `${title}\n${description}`).toContain(skill);
    for (const skill of found)
      expect(skills.has(skill) || inTitle.has(skill), `${skill} in ${title}\n${description}`).toBe(true);
  }
});

test('every skill is a name of the dictionary', () => {
  const dictionary = JSON.parse(readFileSync(new URL('../../../data/skills.json', import.meta.url), 'utf8')) as {
    skills: { name: string }[];
  };
  const names = new Set(dictionary.skills.map(({ name }) => name));
  const used = new Set([...synthRecords(options({ jobs: 5000 }))].flatMap(({ skills }) => skills!));
  expect([...used].filter((skill) => !names.has(skill))).toEqual([]);
  expect(used.size).toBeGreaterThan(100);
});

describe('every record', () => {
  test.each([
    [false, 1],
    [false, 2],
    [true, 1],
    [true, 99],
  ])('is acceptable as native input (descriptions %s, seed %i)', (descriptions, seed) => {
    for (const record of synthRecords(options({ jobs: partOf(2000), descriptions, seed }))) {
      const parsed = parseNative(JSON.parse(JSON.stringify(record)), extractor);
      if (!parsed.ok) throw new Error(`${JSON.stringify(record)}: ${parsed.field} ${parsed.reason}`);
      expect(parsed.job.firstObservedMs).toBeLessThanOrEqual(parsed.job.lastObservedMs);
      expect(parsed.job.lastObservedMs).toBeLessThanOrEqual(AS_OF_MS);
      expect(parsed.job.lastObservedMs % DAY_MS).toBe(0);
      expect(record.company_domain ?? 'x.example').toMatch(/\.example$/);
      expect(new URL(record.source_url).hostname).toMatch(/\.example$/);
      expect(new URL(record.source_url).protocol).toBe('https:');
    }
  });

  test('has an id and a URL of its own', () => {
    const ids = new Set<string>();
    const urls = new Set<string>();
    for (const { id, source_url } of synthRecords(options({ jobs: 20_000 }))) {
      if (!/^job_[0-9a-z]{7}$/.test(id)) expect.fail(id);
      ids.add(id);
      urls.add(source_url);
    }
    expect(ids.size).toBe(20_000);
    expect(urls.size).toBe(20_000);
  });

  test.each([
    ['the moment is midnight', Date.UTC(2026, 0, 1)],
    ['the moment is the millisecond before', Date.UTC(2026, 0, 1) - 1],
    ['the moment is early', 1000 * DAY_MS],
  ])('lies in the past when %s', (_because, asOfMs) => {
    for (const record of synthRecords(options({ jobs: partOf(3000), asOfMs }))) {
      expect(Date.parse(record.last_observed_at)).toBeLessThanOrEqual(asOfMs);
      expect(Date.parse(record.first_observed_at)).toBeLessThanOrEqual(Date.parse(record.last_observed_at));
      expect(Date.parse(record.first_observed_at)).toBeGreaterThanOrEqual(0);
    }
  });
});

describe('fifty thousand jobs', () => {
  const records = [...synthRecords(options({ jobs: 50_000, seed: 5 }))];
  const active = records.filter(({ status }) => status === 'active');
  const shareOf = (count: number): number => count / records.length;
  const countBy = (
    key: (record: (typeof records)[number]) => string | null | undefined,
  ): Map<string | null | undefined, number> => {
    const counts = new Map<string | null | undefined, number>();
    for (const record of records) counts.set(key(record), (counts.get(key(record)) ?? 0) + 1);
    return counts;
  };
  const within = (value: number, low: number, high: number): void => {
    expect(value).toBeGreaterThanOrEqual(low);
    expect(value).toBeLessThanOrEqual(high);
  };

  test('belong to a few large companies and many small ones', () => {
    const sizes = [...countBy(({ company }) => company).values()].sort((a, b) => b - a);
    within(shareOf(sizes[0]!), 0.07, 0.1); // 6 to 7 % at a million, where there are more companies
    within(sizes[Math.floor(sizes.length / 2)]!, 2, 10);
    within(sizes.length, 1800, 2400);
  });

  test('name a company always with the same domain, and no two companies with one', () => {
    const domains = new Map<string, string | null>();
    for (const { company, company_domain = null } of records) {
      if (domains.has(company) && domains.get(company) !== company_domain) expect.fail(company);
      domains.set(company, company_domain);
    }
    const known = [...domains.values()].filter((domain) => domain !== null);
    expect(new Set(known).size).toBe(known.length);
    within(1 - known.length / domains.size, 0.03, 0.1);
  });

  test('have mostly different titles', () => {
    within(countBy(({ title }) => title).size, 25_000, 50_000);
  });

  test('stand in about four hundred departments with a heavy head', () => {
    const departments = countBy(({ department }) => department);
    within(departments.size, 300, 410);
    within(shareOf(departments.get(null)!), 0.12, 0.16);
    within(shareOf(departments.get('Engineering')!), 0.03, 0.08);
  });

  test('are in thousands of places, some remote, some unknown', () => {
    const places = countBy(({ location }) => location);
    expect(places.size).toBeGreaterThan(2000);
    within(shareOf(places.get(null)!), 0.01, 0.05);
    within(shareOf(records.filter(({ location }) => location?.startsWith('Remote')).length), 0.05, 0.15);
    for (const { location, remote_status } of records)
      if (location?.startsWith('Remote')) expect(remote_status).toBe('remote');
  });

  test('are closed in one case of six, and closed ones are older', () => {
    within(shareOf(records.length - active.length), 0.15, 0.2);
    for (const { status, last_observed_at } of records) {
      if (status === 'closed') expect(AS_OF_MS - Date.parse(last_observed_at)).toBeGreaterThan(7 * DAY_MS);
    }
  });

  test('were mostly seen in the last seven days when active', () => {
    const fresh = active.filter(({ last_observed_at }) => AS_OF_MS - Date.parse(last_observed_at) <= 7 * DAY_MS).length;
    within(fresh / active.length, 0.85, 0.91);
  });

  test('have types that fit their titles, and partly none', () => {
    within(shareOf(countBy(({ employment_type }) => employment_type).get('unknown')!), 0.15, 0.22);
    within(shareOf(countBy(({ remote_status }) => remote_status).get('unknown')!), 0.3, 0.45);
    for (const { title, employment_type } of records) {
      if (employment_type === 'internship') expect(title).toMatch(/^Intern, /);
    }
  });
});

describe('options', () => {
  test('no jobs make no records', () => {
    expect([...synthRecords(options({ jobs: 0 }))]).toEqual([]);
  });

  test.each([
    ['a negative number of jobs', { jobs: -1 }],
    ['half a job', { jobs: 0.5 }],
    ['more jobs than there are ids for', { jobs: JOB_COUNT_MAX + 1 }],
    ['a seed that is no whole number', { seed: 0.5 }],
    ['a moment that is no number', { asOfMs: Number.NaN }],
    ['a moment too early to look back from', { asOfMs: 1000 * DAY_MS - 1 }],
    ['a moment past the year 9999', { asOfMs: 253_402_300_800_000 }],
  ])('refuse %s', (_because, changes) => {
    expect(() => synthRecords(options(changes)).next()).toThrow(RangeError);
  });
});
