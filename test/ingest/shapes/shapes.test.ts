/** What publishers document and the real files at hand do not have: other forms, refusals, and how shapes are told apart. */
import { describe, expect, it } from 'vitest';
import { recordsIn, shapeOfDocument, shapeOfRecords, unrecognised } from '../../../src/ingest/input/recognise.ts';
import { NO_ENVELOPE, type ShapeContext } from '../../../src/ingest/shapes/shape.ts';
import { SHAPES } from '../../../src/ingest/shapes/shapes.ts';

const OBSERVED_AT = '2026-09-01T00:00:00.000Z';
const CONTEXT: ShapeContext = {
  fileName: 'acme.2026-08-08.json',
  observedAtMs: Date.parse(OBSERVED_AT),
  board: { company: null, domain: null },
  manifest: new Map(),
};

/** The first record of a document, by the shape it is recognised as. */
function firstOf(document: unknown, context: Partial<ShapeContext> = {}) {
  const known = shapeOfDocument(document, SHAPES);
  if (known === undefined) return { shape: undefined, record: undefined };
  const envelope = known.found.envelope ?? NO_ENVELOPE;
  const shaped = known.shape.nativeOf(known.found.records[0], { ...CONTEXT, envelope, ...context });
  return { shape: known.shape.name, record: shaped.ok ? shaped.record : shaped };
}

describe('documented forms', () => {
  const forms: readonly [
    because: string,
    document: unknown,
    shape: string,
    expected: Readonly<Record<string, unknown>>,
  ][] = [
    [
      'one posting of Greenhouse alone, on a board of the EU',
      {
        id: 7,
        title: 'Cook',
        updated_at: '2026-08-01T00:00:00-04:00',
        absolute_url: 'https://job-boards.eu.greenhouse.io/acme/jobs/7',
        location: { name: ' ' },
        offices: [{ name: 'Bern' }, { name: 'Basel' }],
        content: '&lt;p&gt;x',
      },
      'greenhouse',
      { id: 'greenhouse:acme:7', company: 'acme', location: 'Bern; Basel', description: '&lt;p&gt;x' },
    ],
    [
      'an embedded board of Greenhouse',
      {
        jobs: [
          {
            id: 7,
            title: 'Cook',
            internal_job_id: null,
            absolute_url: 'https://boards.greenhouse.io/embed/job_app?for=Acme&token=7',
            metadata: [
              { name: 'Workplace Type', value: 'Hybrid' },
              { name: 'Employment Type (N/A)', value: 'Intern' },
            ],
          },
        ],
      },
      'greenhouse',
      { id: 'greenhouse:acme:7', remote_status: 'hybrid', employment_type: 'internship' },
    ],
    [
      'a posting of Greenhouse with fields that take several values',
      {
        id: 7,
        title: 'Cook',
        updated_at: '',
        absolute_url: 'https://boards.greenhouse.io/acme/jobs/7',
        metadata: [
          { name: 'Remote options', value: ['Remote', 'Hybrid'] },
          { name: 'Workplace Type', value: ['Hybrid'] },
          { name: 'Job Type', value: [] },
          { name: 'Employment Type', value: ['Full-time', 'Internship'] },
        ],
      },
      'greenhouse',
      { remote_status: 'hybrid', employment_type: 'internship' },
    ],
    [
      'a board of Greenhouse on a site of its own, which only its company names',
      {
        jobs: [
          { id: 7, title: 'Cook', company_name: 'Acme Ltd', updated_at: '', absolute_url: 'https://jobs.acme.com/7' },
        ],
      },
      'greenhouse',
      { id: 'greenhouse:acme-ltd:7', company: 'Acme Ltd', company_domain: null },
    ],
    [
      'Lever in the EU with a commitment in French',
      [
        {
          id: 'u',
          text: 'Chef',
          hostedUrl: 'https://jobs.eu.lever.co/acme/u',
          workplaceType: 'unspecified',
          createdAt: 1_785_000_000_000,
          categories: { commitment: 'Stage', team: 'Cuisine', location: 'Paris' },
        },
      ],
      'lever',
      { id: 'lever:acme:u', employment_type: 'internship', remote_status: 'unknown', department: 'Cuisine' },
    ],
    [
      'the detail of SmartRecruiters',
      {
        id: '1',
        name: 'Cook',
        company: { identifier: 'Acme1', name: 'Acme' },
        releasedDate: '2026-08-01T00:00:00Z',
        postingUrl: 'https://jobs.smartrecruiters.com/Acme1/1-cook',
        location: { city: 'Bern', country: 'ch', remote: true, hybrid: true },
        department: { label: 'Kitchen' },
        typeOfEmployment: { label: 'Part-time' },
        jobAd: { sections: { jobDescription: { text: '<p>x</p>' } } },
      },
      'smartrecruiters',
      {
        source_url: 'https://jobs.smartrecruiters.com/Acme1/1-cook',
        location: 'Bern, ch',
        department: 'Kitchen',
        remote_status: 'hybrid',
        employment_type: 'part_time',
        description: '<p>x</p>',
      },
    ],
    [
      'the recruiting API of Workable',
      {
        jobs: [
          {
            shortcode: 'S1',
            title: 'Cook',
            state: 'published',
            url: 'https://acme.workable.com/jobs/1',
            location: { location_str: 'Bern, Switzerland', workplace_type: 'on_site', telecommuting: false },
            created_at: '2026-08-01',
          },
        ],
      },
      'workable',
      { id: 'workable:acme:S1', company: 'acme', location: 'Bern, Switzerland', remote_status: 'on_site' },
    ],
    [
      'the detail of Workday',
      {
        jobPostingInfo: {
          title: 'Cook',
          jobReqId: 'R1',
          externalUrl: 'https://acme.wd5.myworkdayjobs.com/en-US/Site/job/Bern/Cook_R1-2',
          location: 'Bern',
          additionalLocations: ['Basel'],
          timeType: 'Part time',
          remoteType: 'Hybrid',
          startDate: '2026-08-01',
          posted: false,
        },
      },
      'workday',
      {
        id: 'workday:acme/Site:R1-2',
        location: 'Bern; Basel',
        employment_type: 'part_time',
        remote_status: 'hybrid',
        status: 'closed',
      },
    ],
    [
      'the search API of USAJOBS',
      {
        SearchResult: {
          SearchResultCount: 1,
          SearchResultItems: [
            {
              MatchedObjectId: '5',
              MatchedObjectDescriptor: {
                PositionTitle: 'Cook',
                PositionURI: 'https://www.usajobs.gov/job/5',
                OrganizationName: 'Forest Service',
                DepartmentName: 'Department of Agriculture',
                PositionLocation: [{ LocationName: 'Bend, Oregon' }, { LocationName: 'Boise, Idaho' }],
                PositionSchedule: [{ Name: 'Full-time', Code: '1' }],
                PositionOfferingType: [{ Name: 'Permanent', Code: '15317' }],
                PublicationStartDate: '2026-08-01T00:00:00.0000',
                ApplicationCloseDate: '2026-08-31T23:59:59.9970',
              },
            },
          ],
        },
      },
      'usajobs',
      {
        id: 'usajobs:department-of-agriculture:5',
        location: 'Bend, Oregon; Boise, Idaho',
        employment_type: 'full_time',
        status: 'closed',
        first_observed_at: '2026-08-01T00:00:00.000Z',
        last_observed_at: '2026-08-31T23:59:59.997Z',
      },
    ],
    [
      'historic announcements of USAJOBS',
      {
        data: [
          {
            usajobsControlNumber: 9,
            positionTitle: 'Cook',
            hiringAgencyName: 'Navy',
            hiringDepartmentName: 'Department of the Navy',
            workSchedule: 'Part-time',
            appointmentType: 'Term',
            positionOpenDate: '2026-08-01',
            positionCloseDate: '2026-09-01',
            positionLocations: [{ positionLocationCity: 'Bangor', positionLocationState: 'Maine' }],
          },
        ],
      },
      'usajobs',
      {
        source_url: 'https://www.usajobs.gov/job/9',
        location: 'Bangor, Maine',
        employment_type: 'temporary',
        status: 'active', // its last day is not over
      },
    ],
    [
      'a graph of JSON-LD',
      {
        '@graph': [
          { '@type': 'WebPage' },
          {
            '@type': ['JobPosting'],
            title: 'Cook &amp; Baker',
            url: 'https://jobs.acme.com/1',
            identifier: '7',
            hiringOrganization: { name: 'Acme', sameAs: ['https://linkedin.com/company/acme', 'https://www.acme.com'] },
            jobLocationType: 'TELECOMMUTE',
            applicantLocationRequirements: [{ name: 'CH' }, { name: 'AT' }],
            employmentType: ['FULL_TIME', 'CONTRACTOR'],
            datePosted: '2026-08-01',
            validThrough: '2026-08-31',
          },
        ],
      },
      'jsonld',
      {
        id: 'jsonld:jobs.acme.com:7',
        title: 'Cook & Baker',
        company_domain: 'acme.com',
        location: 'CH; AT',
        remote_status: 'remote',
        employment_type: 'contract',
        status: 'closed',
        last_observed_at: '2026-09-01T00:00:00.000Z',
      },
    ],
    [
      'a posting in JSON-LD whose first address and first identifier are none',
      {
        '@type': 'JobPosting',
        title: 'Cook',
        url: ['#posting', 'https://jobs.acme.com/1'],
        identifier: [
          { '@type': 'PropertyValue', name: 'Acme' },
          { '@type': 'PropertyValue', value: 7 },
        ],
        hiringOrganization: 'Acme',
      },
      'jsonld',
      { id: 'jsonld:jobs.acme.com:7', source_url: 'https://jobs.acme.com/1' },
    ],
    [
      'a posting of Workday whose path has no requisition, with a query',
      {
        jobPostingInfo: {
          title: 'Cook',
          jobReqId: 'R-7',
          externalUrl: 'https://acme.wd5.myworkdayjobs.com/Careers/job/Bern/Cook?utm_source=a',
        },
      },
      'workday',
      { id: 'workday:acme/Careers:R-7' },
    ],
    [
      'an offer of Recruitee on a site of the company’s own, closed',
      {
        offers: [
          {
            id: 1,
            title: 'Cook',
            company_name: 'Acme',
            careers_url: 'https://careers.acme.com/o/cook',
            remote: true,
            hybrid: true,
            close_at: '2026-08-10 00:00:00 UTC',
            published_at: '2026-08-01 00:00:00 UTC',
            employment_type_code: 'parttime_fixed_term',
          },
        ],
      },
      'recruitee',
      {
        id: 'recruitee:careers.acme.com:1',
        company_domain: null,
        remote_status: 'unknown',
        employment_type: 'temporary',
        status: 'closed',
        last_observed_at: '2026-08-10T00:00:00.000Z',
      },
    ],
    [
      'rows of an aggregator, closed',
      [
        {
          'Job Title': 'Cook',
          Employer: 'Acme',
          'Apply URL': 'https://a.example/1',
          status: 'Closed',
          posted_at: 1785542400,
        },
      ],
      'listing',
      { company: 'Acme', status: 'closed', first_observed_at: '2026-08-01T00:00:00.000Z' },
    ],
    [
      'rows of an aggregator where a table dump has written what is missing',
      [
        {
          title: 'Cook',
          company: 'Acme',
          url: 'https://a.example/1',
          description: 'nan',
          content: '<p>Cooks.',
          qualifications: 'None',
        },
      ],
      'listing',
      { description: '<p>Cooks.' },
    ],
  ];
  it.each(forms)('%s', (_because, document, shape, expected) => {
    const found = firstOf(document);
    expect(found.shape).toBe(shape);
    expect(found.record).toMatchObject(expected);
  });
});

describe('a wrapper', () => {
  const job = { id: 7, title: 'Cook', updated_at: '', absolute_url: 'https://www.acme.com/jobs/7' };
  it('names the board and the time, whatever the postings say', () => {
    const known = shapeOfDocument({ company: 'acme', fetched_at: '2026-08-22T03:45:56.007641', jobs: [job] }, SHAPES);
    expect(known?.found.envelope).toMatchObject({ company: 'acme', fetchedAtMs: Date.UTC(2026, 7, 22, 3, 45, 56, 7) });
    expect(firstOf({ company: 'acme', jobs: [job] }).record).toMatchObject({
      id: 'greenhouse:acme:7',
      company: 'acme',
    });
  });
});

describe('times', () => {
  const row = { id: '1', job_url: 'https://a.example/1', site: 's', title: 'T', company: 'C' };
  it.each([
    ['published before the observation', '2026-08-31T23:59:59.999Z', '2026-08-31T23:59:59.999Z'],
    ['published at the observation', OBSERVED_AT, OBSERVED_AT],
    ['published after the observation', '2026-09-01T00:00:00.001Z', OBSERVED_AT],
    ['published some time', 'Posted 30+ Days Ago', OBSERVED_AT],
    ['not said to be published', null, OBSERVED_AT],
  ])('%s is first observed then, and never after it was last', (_because, date_posted, expected) => {
    expect(firstOf([{ ...row, date_posted }]).record).toMatchObject({
      first_observed_at: expected,
      last_observed_at: OBSERVED_AT,
    });
  });
});

describe('ids without one in the source', () => {
  const row = { title: 'Cook', company: 'Acme', url: 'https://a.example/1', location: 'Bern' };
  const idOf = (fields: Record<string, unknown>) => (firstOf([{ ...row, ...fields }]).record as { id: string }).id;
  it('are the same for the same posting, and follow from more than its address', () => {
    expect(idOf({})).toBe(idOf({ posted: '2026-08-01' }));
    expect(idOf({})).toMatch(/^listing:acme:[\w-]{16}$/);
    const others = [{ title: 'Chef' }, { location: 'Basel' }, { url: 'https://a.example/2' }, { company: 'Other' }];
    expect(new Set([{}, ...others].map(idOf)).size).toBe(5);
  });
  it('stay within what an id may be', () => {
    expect(idOf({ id: 'x'.repeat(120), company: 'y'.repeat(60) }).length).toBeLessThan(200);
    expect(idOf({ id: 'x'.repeat(500), company: 'y'.repeat(500) })).toMatch(/^listing:[\w-]{16}:[\w-]{16}$/);
  });
});

describe('a row that has no title, company or address', () => {
  const row = { site: 'indeed', job_url: 'https://a.example/1', title: 'Cook', company: 'Acme' };
  it.each([
    ['title', ' '],
    ['title', null],
    ['company', ''],
    ['company', 'nan'],
    ['job_url', ''],
    ['job_url', 'a.example/1'],
    ['job_url', 'javascript:alert(1)'],
  ])('is refused for its %s %j', (field, value) => {
    expect(firstOf([{ ...row, [field]: value }]).record).toMatchObject({ ok: false, field });
  });
});

describe('recognition', () => {
  const empty: readonly [document: unknown, shape: string | undefined][] = [
    [{ jobs: [], apiVersion: '1' }, 'ashby'],
    [{ jobs: [], meta: { total: 0 } }, 'greenhouse'],
    [{ company: 'acme', job_count: 0, jobs: [] }, 'greenhouse'],
    [{ content: [], totalFound: 0, offset: 0, limit: 100 }, 'smartrecruiters'],
    [{ name: 'Acme', description: null, jobs: [] }, 'workable'],
    [{ offers: [] }, 'recruitee'],
    [{ version: 'https://jsonfeed.org/version/1.1', items: [] }, 'teamtailor'],
    [{ version: { toString: null }, items: [] }, undefined],
    [{ total: 0, jobPostings: [], facets: [] }, 'workday'],
    [{ jobs: [] }, undefined],
    [[], undefined],
    [{}, undefined],
    [null, undefined],
    ['jobs', undefined],
    [[1, 2], undefined],
    [{ jobs: [{ id: 1, name: 'x' }] }, undefined],
  ];
  it.each(empty)('%j is an empty board of %s', (document, shape) => {
    expect(shapeOfDocument(document, SHAPES)?.shape.name).toBe(shape);
  });

  it('reads a document that is one record, and no wrapper for one', () => {
    const lever = { id: 'u', text: 'Cook', categories: {}, hostedUrl: 'https://jobs.lever.co/acme/u' };
    const listing = { id: '1', title: 'Cook', company: 'Acme', url: 'https://a.example/1' };
    const simplify = { ...listing, company_name: 'Acme', locations: [], active: true, date_posted: 1785000000 };
    for (const record of [lever, listing, simplify]) {
      const known = shapeOfDocument(record, SHAPES);
      expect(known?.shape.name).toBe(shapeOfRecords([record], SHAPES)?.name);
      expect(known?.found.records).toEqual([record]);
    }
    for (const openings of [[listing], [lever]]) {
      expect(shapeOfDocument({ ...listing, openings }, SHAPES)).toBeUndefined();
    }
    const given = SHAPES.find(({ name }) => name === 'listing')!;
    expect(recordsIn(listing, given)).toMatchObject({ ok: true, records: [listing] });
    expect(recordsIn({ ...listing, openings: [listing] }, given).ok).toBe(false);
    expect(shapeOfDocument({ ...listing, jobs: [listing, listing] }, SHAPES)?.found.records.length).toBe(2);
  });

  it('asks more than half of the first records', () => {
    const native = { title: 'T', source_url: 'https://a.example', first_observed_at: '2026-01-01' };
    expect(shapeOfRecords([native, native, {}], SHAPES)?.name).toBe('native');
    expect(shapeOfRecords([native, {}], SHAPES)).toBeUndefined();
    expect(shapeOfRecords([], SHAPES)).toBeUndefined();
  });

  it('says what it looked for, and what is there', () => {
    const said = unrecognised([{ job_id: 1, skill_abr: 'x' }], SHAPES);
    expect(said).toContain('its fields are job_id, skill_abr.');
    for (const { name, marks } of SHAPES) expect(said).toContain(`  ${name}: ${marks}`);
    expect(unrecognised([], SHAPES)).toBe('has no records, which tell the format: give it with --format');
    expect(unrecognised([], [SHAPES[0]!])).toBe('has no records');
  });

  it.each(SHAPES.map((shape) => [shape.name, shape] as const))('%s refuses what is no record', (_name, shape) => {
    for (const record of [null, undefined, 5, 'x', []]) expect(shape.nativeOf(record, CONTEXT).ok).toBe(false);
    if (shape.name !== 'native') expect(shape.nativeOf({}, CONTEXT).ok).toBe(false);
  });
});
