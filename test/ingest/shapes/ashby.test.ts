import { describe, expect, it } from 'vitest';
import { ashbyShape } from '../../../src/ingest/shapes/ashby.ts';
import type { BoardEntry } from '../../../src/ingest/shapes/board-manifest.ts';
import type { ShapeContext } from '../../../src/ingest/shapes/shape.ts';
import { realDataMissing, skippedWithout } from '../real-data.ts';
import { realRecords } from '../real-records.ts';

const OBSERVED_AT = '2026-03-01T00:00:00.000Z';

const NOBODY: BoardEntry = { company: null, domain: null };
const CONTEXT: ShapeContext = {
  fileName: 'acme.json',
  observedAtMs: Date.parse(OBSERVED_AT),
  board: NOBODY,
  manifest: new Map(),
};

const LEAST = { id: 'u-1', title: 'Cook', jobUrl: 'https://jobs.ashbyhq.com/Acme/u-1' };

function shaped(fields: Record<string, unknown>, context: Partial<ShapeContext> = {}) {
  // Through JSON, so that a field that is undefined here is absent.
  return ashbyShape.nativeOf(JSON.parse(JSON.stringify({ ...LEAST, ...fields })), { ...CONTEXT, ...context });
}

function recordOf(fields: Record<string, unknown>, context: Partial<ShapeContext> = {}) {
  const result = shaped(fields, context);
  if (!result.ok) throw new Error(`${result.field} ${result.reason}`);
  return result.record;
}

describe('an Ashby posting becomes a native record', () => {
  it('says nothing that the posting does not say', () => {
    expect(recordOf({})).toEqual({
      id: 'ashby:Acme:u-1',
      title: 'Cook',
      company: 'Acme',
      company_domain: null,
      location: null,
      department: null,
      remote_status: 'unknown',
      employment_type: 'unknown',
      source_url: 'https://jobs.ashbyhq.com/Acme/u-1',
      description: null,
      first_observed_at: OBSERVED_AT,
      last_observed_at: OBSERVED_AT,
      status: 'active',
    });
  });

  it.each([
    ['FullTime', 'full_time'],
    ['PartTime', 'part_time'],
    ['Contract', 'contract'],
    ['Temporary', 'temporary'],
    ['Intern', 'internship'],
    ['fulltime', 'unknown'],
    ['Volunteer', 'unknown'],
    [null, 'unknown'],
  ])('employmentType %j is %s', (employmentType, expected) => {
    expect(recordOf({ employmentType }).employment_type).toBe(expected);
  });

  it.each([
    ['Remote', true, 'remote'],
    ['Hybrid', true, 'hybrid'],
    ['OnSite', false, 'on_site'],
    ['OnSite', true, 'on_site'],
    [null, true, 'remote'],
    [undefined, true, 'remote'],
    ['Elsewhere', true, 'remote'],
    [null, false, 'unknown'],
    [undefined, null, 'unknown'],
    [undefined, undefined, 'unknown'],
  ])('workplaceType %j with isRemote %j is %s', (workplaceType, isRemote, expected) => {
    expect(recordOf({ workplaceType, isRemote }).remote_status).toBe(expected);
  });

  it.each([
    ['the department first', { department: 'R&D', team: 'Core' }, 'R&D'],
    ['the team where there is none', { department: null, team: 'Core' }, 'Core'],
    ['the team where it is blank', { department: ' ', team: ' Core ' }, 'Core'],
    ['neither', { department: '', team: null }, null],
  ])('department: %s', (_because, fields, expected) => {
    expect(recordOf(fields).department).toBe(expected);
  });

  it('joins places in order, each once', () => {
    const places = [{ location: 'Bern' }, { location: ' Basel ' }, { location: null }, {}, { location: 'Basel' }];
    expect(recordOf({ location: 'Basel', secondaryLocations: places }).location).toBe('Basel; Bern');
    expect(recordOf({ location: ' ', secondaryLocations: [] }).location).toBeNull();
  });

  it('prefers the HTML description, where lists can be seen', () => {
    expect(recordOf({ descriptionHtml: '<p>a</p>', descriptionPlain: 'b' }).description).toBe('<p>a</p>');
    expect(recordOf({ descriptionHtml: null, descriptionPlain: 'b' }).description).toBe('b');
  });

  const boards: readonly [because: string, context: Partial<ShapeContext>, company: string, domain: string | null][] = [
    ['the board itself', {}, 'Acme', null],
    [
      'the manifest by board',
      { manifest: new Map([['Acme', { company: 'Acme, Inc.', domain: 'acme.com' }]]) },
      'Acme, Inc.',
      'acme.com',
    ],
    [
      'the manifest by file',
      { manifest: new Map([['acme.json', { company: 'By file', domain: null }]]) },
      'By file',
      null,
    ],
    [
      'the manifest by file without its ending',
      { fileName: 'acme.json.gz', manifest: new Map([['acme', { company: null, domain: 'acme.com' }]]) },
      'Acme',
      'acme.com',
    ],
    [
      'the board before the file',
      {
        manifest: new Map([
          ['acme.json', NOBODY],
          ['Acme', { company: 'By board', domain: null }],
        ]),
      },
      'By board',
      null,
    ],
    [
      'the command line before all',
      {
        board: { company: 'Said', domain: null },
        manifest: new Map([['Acme', { company: 'Acme, Inc.', domain: 'acme.com' }]]),
      },
      'Said',
      'acme.com',
    ],
    [
      'no entry of another board',
      { manifest: new Map([['ACME', { company: 'Other', domain: 'o.com' }]]) },
      'Acme',
      null,
    ],
  ];
  it.each(boards)('the company is from %s', (_because, context, company, domain) => {
    expect(recordOf({}, context)).toMatchObject({ company, company_domain: domain });
  });

  it.each([
    ['an encoded board', 'https://jobs.ashbyhq.com/Rose%20Rocket/u-1', 'x.json', 'Rose Rocket'],
    ['a board that is not encoded well', 'https://jobs.ashbyhq.com/50%/u-1', 'x.json', '50%'],
    ['a company page, so the file', 'https://acme.example/jobs/u-1', 'Rose%20Rocket.json', 'Rose Rocket'],
    ['no board in the path, so the file', 'https://jobs.ashbyhq.com/', 'acme.json.gz', 'acme'],
  ])('the board is known from %s', (_because, jobUrl, fileName, board) => {
    expect(recordOf({ jobUrl }, { fileName })).toMatchObject({ id: `ashby:${board}:u-1`, company: board });
  });

  const refused: readonly [because: string, fields: Record<string, unknown>, field: string, reason: string][] = [
    ['not listed', { isListed: false }, 'isListed', 'is false: the posting is not public'],
    ['no id', { id: undefined }, 'id', 'is missing or blank'],
    ['a blank id', { id: ' ' }, 'id', 'is missing or blank'],
    ['no title', { title: null }, 'title', 'is missing or blank'],
    ['no address', { jobUrl: undefined }, 'jobUrl', 'is missing or blank'],
    ['text that says so for a flag', { isListed: 'false' }, 'isListed', 'is false: the posting is not public'],
  ];
  it.each(refused)('refuses a posting with %s', (_because, fields, field, reason) => {
    expect(shaped(fields)).toMatchObject({ ok: false, field, reason });
  });

  it.each([
    ['a number for an id', { id: 5 }, { id: 'ashby:Acme:5' }],
    ['places that are text', { secondaryLocations: ['Berlin', null] }, { location: 'Berlin' }],
    ['one place for places', { secondaryLocations: { location: 'Berlin' } }, { location: 'Berlin' }],
    [
      'a publication in milliseconds',
      { publishedAt: Date.UTC(2026, 0, 2) },
      { first_observed_at: '2026-01-02T00:00:00.000Z' },
    ],
    ['text for a flag', { isRemote: 'true' }, { remote_status: 'remote' }],
    [
      'numbers for words',
      { workplaceType: 1, employmentType: 2 },
      { remote_status: 'unknown', employment_type: 'unknown' },
    ],
    ['a blank HTML description', { descriptionHtml: '', descriptionPlain: 'b' }, { description: 'b' }],
    ['an object for a description', { descriptionHtml: {} }, { description: null }],
  ])('takes a posting with %s', (_because, fields, expected) => {
    expect(recordOf(fields)).toMatchObject(expected);
  });

  it.each([
    ['from the very moment of the observation', OBSERVED_AT],
    ['published a millisecond after the observation', '2026-03-01T00:00:00.001Z'],
    ['with words for a date', 'yesterday'],
  ])('a posting %s is first observed then', (_because, publishedAt) => {
    expect(recordOf({ publishedAt }).first_observed_at).toBe(OBSERVED_AT);
  });

  it('refuses a posting whose board nobody knows', () => {
    const result = shaped({ jobUrl: 'https://acme.example/jobs/u-1' }, { fileName: null });
    expect(result).toMatchObject({ ok: false, field: 'jobUrl', reason: 'does not name its board' });
  });

  it.each([[null], [5], ['x'], [[]]])('refuses %j for a posting', (record) => {
    expect(ashbyShape.nativeOf(record, CONTEXT).ok).toBe(false);
  });

  it('takes a board without postings, and nothing that is no board', () => {
    expect(ashbyShape.recordsOf({ jobs: [], apiVersion: '1' })).toMatchObject({ ok: true, records: [] });
    for (const document of [null, [], {}, { jobs: {} }, 'jobs']) expect(ashbyShape.recordsOf(document).ok).toBe(false);
  });
});

describe.skipIf(realDataMissing)(`real Ashby postings, checked by hand${skippedWithout}`, () => {
  const BOARDS = 'ashby-boards-stapply.part1.tar.gz';
  const golden: readonly [file: string, member: string | null, id: string, expected: Record<string, unknown>][] = [
    [
      'ashby-etched.json',
      null,
      '7aeafe31-c2c6-43e0-bb31-01868dcfad39',
      {
        id: 'ashby:Etched:7aeafe31-c2c6-43e0-bb31-01868dcfad39',
        title: 'Design Verification Engineer - Internal IP',
        company: 'Etched',
        location: 'San Jose',
        department: 'ASIC',
        remote_status: 'on_site',
        employment_type: 'full_time',
        source_url: 'https://jobs.ashbyhq.com/Etched/7aeafe31-c2c6-43e0-bb31-01868dcfad39',
        first_observed_at: '2025-06-11T05:03:53.978Z',
        last_observed_at: OBSERVED_AT,
        status: 'active',
      },
    ],
    [
      'ashby-cursor.json',
      null,
      'e08262e8-c089-488d-9b59-9e21f7702b64',
      {
        company: 'cursor',
        location: 'SF / NY / Remote',
        department: 'Engineering',
        remote_status: 'hybrid',
        first_observed_at: '2025-11-19T15:09:21.877Z',
      },
    ],
    [
      'ashby-cursor.json',
      null,
      'e4c982dd-dd63-4d80-b071-50d6d0f8f560',
      { title: 'Technical Support Engineer', location: 'Remote', department: 'User Ops', remote_status: 'remote' },
    ],
    [
      'ashby-alan.json',
      null,
      '0b805862-78d2-4aae-997a-a827dcd0cadc',
      {
        title: 'Inbound Sales 🇫🇷',
        company: 'alan',
        location: 'Anywhere in France',
        department: 'Revenue',
        remote_status: 'remote',
        employment_type: 'full_time',
      },
    ],
    [
      'ashby-cohere.json',
      null,
      '443368a3-6276-4b90-9671-27fed40fd6d2',
      {
        location: 'London; San Francisco; New York; Toronto; Montreal; Paris',
        department: 'Modelling',
        remote_status: 'unknown',
      },
    ],
    [
      'ashby-notion.json.gz',
      null,
      '87bd12a1-7d5a-42f7-a93c-5c0361a04e49',
      {
        title: 'Startup Market Developer, South Korea (Contract)',
        employment_type: 'temporary',
        remote_status: 'remote',
        location: 'Seoul, South Korea',
      },
    ],
    [
      BOARDS,
      'Forward%20Financing.json',
      'd0811aaf-18a6-4070-8fe8-979b98335775',
      {
        id: 'ashby:Forward Financing:d0811aaf-18a6-4070-8fe8-979b98335775',
        company: 'Forward Financing',
        location: 'Remote - United States',
        remote_status: 'unknown',
        source_url: 'https://jobs.ashbyhq.com/Forward%20Financing/d0811aaf-18a6-4070-8fe8-979b98335775',
      },
    ],
    [
      BOARDS,
      'Aspora.json',
      'bb71b17c-bf2a-481c-b0ad-dcf101d690f8',
      { title: 'Senior Product Designer', location: 'Bangalore', department: 'Design' },
    ],
    [
      BOARDS,
      'AtomicSemi.json',
      'c3fb1af1-8a01-45e4-80fe-d3dbe1e40e69',
      {
        department: 'Internships & Co-ops',
        employment_type: 'internship',
        location: 'San Francisco Office',
        remote_status: 'unknown',
      },
    ],
    [
      BOARDS,
      'cobot.json',
      'dec9febf-0967-457b-95b0-d36f94891717',
      { title: 'Part-time Robotics Assistant', employment_type: 'temporary', department: 'Software Engineering' },
    ],
  ];
  it.each(golden)('%s %s %s', async (file, member, id, expected) => {
    const { fileName, records } = await realRecords(file, member, ashbyShape);
    const found = records.find((record) => (record as { id: string }).id === id);
    const result = ashbyShape.nativeOf(found, { ...CONTEXT, fileName });
    expect(result.ok && result.record).toMatchObject(expected);
  });
});
