import { describe, expect, it } from 'vitest';
import type { ShapeContext } from '../../../src/ingest/shapes/shape.ts';
import { simplifyShape } from '../../../src/ingest/shapes/simplify.ts';
import { realDataMissing, skippedWithout } from '../real-data.ts';
import { realRecords } from '../real-records.ts';

const CONTEXT: ShapeContext = {
  fileName: 'listings.json',
  observedAtMs: 0,
  board: { company: null, domain: null },
  manifest: new Map(),
};

const LEAST = {
  id: 'u-1',
  title: 'Cook',
  company_name: 'Acme',
  url: 'https://acme.example/1',
  active: true,
  date_posted: 1_700_000_000,
  date_updated: 1_700_000_001,
};

function shaped(fields: Record<string, unknown>) {
  // Through JSON, so that a field that is undefined here is absent.
  return simplifyShape.nativeOf(JSON.parse(JSON.stringify({ ...LEAST, ...fields })), CONTEXT);
}

function recordOf(fields: Record<string, unknown>) {
  const result = shaped(fields);
  if (!result.ok) throw new Error(`${result.field} ${result.reason}`);
  return result.record;
}

describe('a SimplifyJobs listing becomes a native record', () => {
  it('says nothing that the listing does not say', () => {
    expect(recordOf({})).toEqual({
      id: 'simplify:u-1',
      title: 'Cook',
      company: 'Acme',
      company_domain: null,
      location: null,
      department: null,
      remote_status: 'unknown',
      employment_type: 'unknown',
      source_url: 'https://acme.example/1',
      description: null,
      first_observed_at: '2023-11-14T22:13:20.000Z',
      last_observed_at: '2023-11-14T22:13:21.000Z',
      status: 'active',
    });
  });

  it.each([
    [true, true, 'active'],
    [false, true, 'closed'],
    [true, false, 'closed'],
    [false, false, 'closed'],
    [true, undefined, 'active'],
  ])('active %j and is_visible %j is %s', (active, is_visible, status) => {
    expect(recordOf({ active, is_visible }).status).toBe(status);
  });

  it.each([
    [['Remote'], 'remote'],
    [['Remote in USA'], 'remote'],
    [['NYC', 'remote, US'], 'remote'],
    [['Hybrid Remote'], 'hybrid'],
    [['NYC', 'Hybrid'], 'hybrid'],
    [['Hybrid', 'Remote'], 'remote'],
    [['Remoteville, OH'], 'unknown'],
    [['SF Remote in USA McLean, VA'], 'unknown'],
    [['NYC'], 'unknown'],
    [[], 'unknown'],
  ])('locations %j are %s', (locations, expected) => {
    expect(recordOf({ locations }).remote_status).toBe(expected);
  });

  it.each([
    ['https://www.acme.example/about', 'acme.example'],
    ['http://ACME.example', 'acme.example'],
    ['https://careers.acme.example', 'careers.acme.example'],
    ['https://simplify.jobs/c/Acme', null],
    ['https://www.linkedin.com/company/acme', null],
    ['https://acme.wd1.myworkdayjobs.com/x', null],
    ['https://notlinkedin.com', 'notlinkedin.com'],
    ['https://10.0.0.1/', null],
    ['acme.example', null],
    ['mailto:jobs@acme.example', null],
    ['', null],
    [null, null],
  ])('company_url %j names the domain %j', (company_url, domain) => {
    expect(recordOf({ company_url }).company_domain).toBe(domain);
  });

  it.each([
    [{ terms: ['Summer 2025'] }, 'internship'],
    [{ terms: ['Fall 2024', 'Spring 2025'] }, 'internship'],
    [{ season: 'Winter' }, 'internship'],
    [{ terms: [] }, 'unknown'],
    [{ terms: ['N/A'], season: '' }, 'unknown'],
  ])('%j is %s', (fields, expected) => {
    expect(recordOf(fields).employment_type).toBe(expected);
  });

  it.each([
    ['milliseconds', { date_posted: 1_700_000_000_000, date_updated: 1_700_000_001_000 }],
    ['parts of a second', { date_posted: 1_700_000_000.5 }],
    ['a time as text', { date_posted: '2023-11-14T22:13:20Z' }],
    ['flags as text', { active: 'true', is_visible: 'True' }],
    ['blanks around texts', { title: ' Cook ', company_name: 'Acme ', url: ' https://acme.example/1 ' }],
  ])('%s cost nothing', (_what, fields) => {
    const { first_observed_at, ...rest } = recordOf(fields);
    const { first_observed_at: usual, ...least } = recordOf({});
    expect(rest).toEqual(least);
    expect(first_observed_at.slice(0, 19)).toBe(usual.slice(0, 19));
  });

  it.each([
    ['never updated', { date_updated: null }, '2023-11-14T22:13:20.000Z', '2023-11-14T22:13:20.000Z'],
    ['updated before posted', { date_updated: 1_699_999_999 }, '2023-11-14T22:13:19.000Z', '2023-11-14T22:13:19.000Z'],
    ['never posted', { date_posted: 'soon' }, '2023-11-14T22:13:21.000Z', '2023-11-14T22:13:21.000Z'],
    ['no time at all', { date_posted: -1, date_updated: '' }, '1970-01-01T00:00:00.000Z', '1970-01-01T00:00:00.000Z'],
  ])('%s', (_what, fields, first_observed_at, last_observed_at) => {
    expect(recordOf(fields)).toMatchObject({ first_observed_at, last_observed_at });
  });

  it('decodes entities, and takes a place that is no list and one that is no text', () => {
    expect(
      recordOf({ title: 'R&amp;D Intern', company_name: 'Acme &amp; Co', locations: 'Remote in USA' }),
    ).toMatchObject({
      title: 'R&D Intern',
      company: 'Acme & Co',
      location: 'Remote in USA',
      remote_status: 'remote',
    });
    expect(recordOf({ locations: ['NYC', null, {}] }).location).toBe('NYC');
  });

  it('keeps an id as it stands, whatever company it is with', () => {
    expect(recordOf({ id: 12 }).id).toBe('simplify:12');
    expect(recordOf({ id: 'a  b', company_name: 'Other' }).id).toBe('simplify:a  b');
    expect(recordOf({ id: 'x'.repeat(191) }).id).toBe(`simplify:${'x'.repeat(191)}`);
    expect(recordOf({ id: 'x'.repeat(192) }).id).toMatch(/^simplify:[\w-]{16}$/);
    expect(recordOf({ id: undefined }).id).toMatch(/^simplify:acme:[\w-]{16}$/);
  });

  it.each([
    ['no title', { title: ' ' }, 'title', 'is missing or blank'],
    ['no company', { company_name: null }, 'company_name', 'is missing or blank'],
    ['no address', { url: undefined }, 'url', 'is missing or blank'],
    ['an address that is none', { url: 'acme.example/1' }, 'url', 'is not an http or https URL'],
    ['an address whose host is no Punycode', { url: 'https://xn--a.example/1' }, 'url', 'is not an http or https URL'],
  ])('refuses a listing with %s', (_because, fields, field, reason) => {
    expect(shaped(fields)).toMatchObject({ ok: false, field, reason });
  });

  it('takes a list without listings, and nothing that is no list', () => {
    expect(simplifyShape.recordsOf([])).toEqual({ ok: true, records: [] });
    for (const document of [null, {}, 'x', 5]) expect(simplifyShape.recordsOf(document).ok).toBe(false);
  });
});

describe.skipIf(realDataMissing)(`real SimplifyJobs listings, checked by hand${skippedWithout}`, () => {
  const OCTOBER = 'simplify-new-grad.2024-10-25.json';
  const SEPTEMBER = 'simplify-new-grad.2024-09-14.json';
  const CVRVE = 'simplify-cvrve-new-grad.2024-10-24.json';
  const golden: readonly [file: string, id: string, expected: Record<string, unknown>][] = [
    [
      OCTOBER,
      '590f1ae6-ef3f-4bcb-a7a0-e6957768779d',
      {
        id: 'simplify:590f1ae6-ef3f-4bcb-a7a0-e6957768779d',
        title: 'Junior Data Engineer',
        company: 'Perpay',
        company_domain: null,
        location: 'Philadelphia, PA',
        remote_status: 'unknown',
        source_url: 'https://boards.greenhouse.io/perpay/jobs/4390291007',
        first_observed_at: '2024-05-31T23:13:01.000Z',
        last_observed_at: '2024-05-31T23:13:01.000Z',
        status: 'active',
      },
    ],
    [
      OCTOBER,
      '878b38f9-b530-44ec-982d-cd6211337fe7',
      {
        company: 'Wiley Edge',
        location: 'United Kingdom',
        first_observed_at: '2024-08-30T23:38:07.000Z',
        last_observed_at: '2024-09-05T05:39:20.000Z',
        status: 'closed',
      },
    ],
    [
      OCTOBER,
      '301eeae6-5b80-45a4-835f-bc98589abcda',
      { title: 'Analyst I – Ttm', location: 'Remote in Canada', remote_status: 'remote', status: 'closed' },
    ],
    [
      OCTOBER,
      '5b4e70ab-73e3-48d5-9731-fbcc9c989e57',
      {
        company: 'JPMorgan Chase',
        location:
          'Atlanta, GA; Austin, TX; Chicago, IL; Columbus, OH; Houston, TX; Jersey City, NJ; New York, NY; Palo Alto, CA; Plano, TX; Seattle, WA; Tampa, FL; Wilmington, DE',
        status: 'active',
      },
    ],
    [
      SEPTEMBER,
      '87348472-60dd-49f8-b9de-2c7e2f8a4545',
      {
        company: 'Splunk',
        location: 'CO, United States; NC, United States; Hybrid Remote',
        remote_status: 'hybrid',
        status: 'active',
      },
    ],
    [
      SEPTEMBER,
      '0e3999fb-1a40-463c-858d-fc0903e62bc2',
      { company: 'Salesforce', remote_status: 'unknown', status: 'closed' },
    ],
    [
      CVRVE,
      'e8b781a0-a2ca-4501-b015-f9b54398e088',
      {
        company: 'Medallion',
        company_domain: null,
        location: 'Remote, US',
        remote_status: 'remote',
        employment_type: 'unknown',
      },
    ],
  ];
  it.each(golden)('%s %s', async (file, id, expected) => {
    const { records } = await realRecords(file, null, simplifyShape);
    const found = records.find((record) => (record as { id: string }).id === id);
    const result = simplifyShape.nativeOf(found, CONTEXT);
    expect(result.ok && result.record).toMatchObject(expected);
  });
});
