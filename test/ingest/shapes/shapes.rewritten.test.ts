/**
 * Rows of the shapes that have fewer than five real ones at hand: in the form that their publisher documents and serves,
 * with values of our own, and what has to become of each.
 */
import { describe, expect, it } from 'vitest';
import { shapeOfDocument } from '../../../src/ingest/input/recognise.ts';
import { NO_ENVELOPE } from '../../../src/ingest/shapes/shape.ts';
import { SHAPES } from '../../../src/ingest/shapes/shapes.ts';

const OBSERVED_AT = '2026-09-01T00:00:00.000Z';

type Row = readonly [because: string, document: unknown, expected: Readonly<Record<string, unknown>>];

const widget = (job: object) => ({
  name: 'Acme Labs',
  description: null,
  jobs: [
    {
      title: 'Cook',
      shortcode: 'A1B2C3D4E5',
      code: '',
      employment_type: 'Full-time',
      telecommuting: false,
      department: 'Kitchen',
      url: 'https://apply.workable.com/j/A1B2C3D4E5',
      shortlink: 'https://apply.workable.com/j/A1B2C3D4E5',
      application_url: 'https://apply.workable.com/j/A1B2C3D4E5/apply',
      published_on: '2026-06-22',
      created_at: '2026-03-06',
      country: 'Greece',
      city: 'Athens',
      state: 'Attica',
      education: '',
      experience: '',
      function: '',
      industry: '',
      locations: [{ country: 'Greece', countryCode: 'GR', city: 'Athens', region: 'Attica', hidden: false }],
      ...job,
    },
  ],
});

const offers = (offer: object) => ({
  offers: [
    {
      id: 77,
      slug: 'cook',
      status: 'published',
      title: 'Cook',
      company_name: 'Acme Foods',
      careers_url: 'https://acme.recruitee.com/o/cook',
      careers_apply_url: 'https://acme.recruitee.com/o/cook/c/new',
      department: 'Kitchen',
      location: 'Utrecht, Utrecht, Netherlands',
      city: 'Utrecht',
      state_name: 'Utrecht',
      country: 'Netherlands',
      country_code: 'NL',
      locations: [{ id: 1, name: 'Utrecht', city: 'Utrecht', state: 'Utrecht', country: 'Netherlands' }],
      remote: false,
      hybrid: true,
      on_site: false,
      employment_type_code: 'parttime_permanent',
      min_hours_per_week: 24,
      max_hours_per_week: 32,
      description: '<p>Soup &amp; bread.</p>',
      requirements: '<ul><li>Knives</li></ul>',
      published_at: '2026-07-01 08:00:00 UTC',
      created_at: '2026-06-30 10:00:00 UTC',
      close_at: null,
      ...offer,
    },
  ],
});

const place = (locality: string, region: string | null, country: string) => ({
  '@type': 'Place',
  address: { '@type': 'PostalAddress', addressLocality: locality, addressRegion: region, addressCountry: country },
});

const feed = (item: object, posting: object) => ({
  version: 'https://jsonfeed.org/version/1.1',
  title: 'Acme Careers',
  home_page_url: 'https://acme.teamtailor.com/jobs',
  feed_url: 'https://acme.teamtailor.com/jobs.json',
  items: [
    {
      id: '0f0e0d0c-0000-4000-8000-000000000001',
      title: 'Cook',
      url: 'https://acme.teamtailor.com/jobs/1234567-cook',
      date_published: '2026-02-04T09:26:20+01:00',
      content_html: '<p>Soup.</p>',
      _jobposting: {
        '@context': 'http://schema.org/',
        '@type': 'JobPosting',
        title: 'Cook',
        identifier: { '@type': 'PropertyValue', name: 'Acme', value: 1234567 },
        datePosted: '2026-02-04T09:26:20+01:00',
        hiringOrganization: { '@type': 'Organization', name: 'Acme Foods', sameAs: 'https://www.acme.example' },
        jobLocation: [place('Malmö', 'Skåne', 'SE')],
        ...posting,
      },
      ...item,
    },
  ],
});

const posting = (fields: object) => ({
  '@context': 'https://schema.org/',
  '@type': 'JobPosting',
  title: 'Cook &amp; Baker',
  description: '<p>Soup.</p>',
  identifier: { '@type': 'PropertyValue', name: 'Acme', value: 'C-17' },
  datePosted: '2026-05-01',
  employmentType: 'FULL_TIME',
  hiringOrganization: { '@type': 'Organization', name: 'Acme Foods', sameAs: 'https://www.acme.example/' },
  jobLocation: place('Lyon', 'Auvergne-Rhône-Alpes', 'FR'),
  url: 'https://jobs.acme.example/c-17',
  ...fields,
});

const muse = (fields: object) => ({
  page: 0,
  results: [
    {
      id: 17,
      name: 'Cook',
      type: 'external',
      contents: '<p>Soup.</p>',
      publication_date: '2026-05-01T08:00:00Z',
      locations: [{ name: 'Flexible / Remote' }],
      levels: [{ name: 'Entry Level', short_name: 'entry' }],
      company: { id: 3, short_name: 'acme', name: 'Acme Foods' },
      refs: { landing_page: 'https://www.themuse.com/jobs/acme/cook' },
      ...fields,
    },
  ],
});

const native = (fields: object) => ({
  id: 'acme-1',
  title: 'Cook',
  company: 'Acme Foods',
  source_url: 'https://acme.example/jobs/1',
  first_observed_at: '2026-05-01T08:00:00Z',
  last_observed_at: '2026-08-01T08:00:00Z',
  ...fields,
});

const rows: Readonly<Record<string, readonly Row[]>> = {
  workable: [
    [
      'a job at one place',
      widget({}),
      {
        id: 'workable:acme-labs:A1B2C3D4E5',
        company: 'Acme Labs',
        company_domain: null,
        location: 'Athens, Attica, Greece',
        department: 'Kitchen',
        remote_status: 'unknown',
        employment_type: 'full_time',
        first_observed_at: '2026-06-22T00:00:00.000Z',
      },
    ],
    [
      'a remote contract without a department',
      widget({ telecommuting: true, employment_type: 'Contract', department: '' }),
      { remote_status: 'remote', employment_type: 'contract', department: null },
    ],
    [
      "a place that is hidden, on the account's own host",
      widget({
        url: 'https://acme.workable.com/jobs/5',
        locations: [{ city: 'Patras', country: 'Greece', hidden: true }],
      }),
      { id: 'workable:acme:A1B2C3D4E5', location: 'Athens, Attica, Greece' },
    ],
  ],
  recruitee: [
    [
      'part-time, hybrid',
      offers({}),
      {
        id: 'recruitee:acme:77',
        company: 'Acme Foods',
        location: 'Utrecht, Netherlands',
        remote_status: 'hybrid',
        employment_type: 'part_time',
        first_observed_at: '2026-07-01T08:00:00.000Z',
        status: 'active',
      },
    ],
    [
      'a site of its own, two ways of working, past its end',
      offers({
        careers_url: 'https://careers.acme.example/o/cook',
        on_site: true,
        close_at: '2026-08-01',
        employment_type_code: 'internship',
      }),
      {
        id: 'recruitee:careers.acme.example:77',
        company_domain: null,
        remote_status: 'unknown',
        employment_type: 'internship',
        status: 'closed',
      },
    ],
  ],
  teamtailor: [
    [
      'an organisation with a domain',
      feed({}, {}),
      {
        id: 'teamtailor:acme:0f0e0d0c-0000-4000-8000-000000000001',
        company: 'Acme Foods',
        company_domain: 'acme.example',
        location: 'Malmö, Skåne, SE',
        remote_status: 'unknown',
        first_observed_at: '2026-02-04T08:26:20.000Z',
      },
    ],
    [
      'remote, part-time',
      feed({}, { jobLocationType: 'TELECOMMUTE', employmentType: 'PART_TIME' }),
      { remote_status: 'remote', employment_type: 'part_time' },
    ],
    [
      'no organisation, and a region in the host',
      feed({ url: 'https://acme.na.teamtailor.com/jobs/1' }, { hiringOrganization: null }),
      { id: 'teamtailor:acme:0f0e0d0c-0000-4000-8000-000000000001', company: 'Acme Careers', company_domain: null },
    ],
    [
      'what an item leaves out and its posting has',
      feed(
        { id: null, title: null, url: null, external_url: 'https://jobs.acme.example/7', content_html: null },
        { title: 'Baker', description: '<p>Bread.</p>' },
      ),
      {
        id: 'teamtailor:jobs.acme.example:1234567',
        title: 'Baker',
        source_url: 'https://jobs.acme.example/7',
        description: '<p>Bread.</p>',
      },
    ],
    ['text alone', feed({ content_html: null, content_text: 'Bread.' }, {}), { description: 'Bread.' }],
  ],
  remoteok: [
    [
      'a job behind the legal notice',
      [
        { last_updated: 1785777773, legal: 'a notice' },
        {
          slug: 'remote-cook-acme-9',
          id: '9',
          epoch: 1785704722,
          date: '2026-08-02T21:05:22+00:00',
          company: 'Acme&amp;Sons',
          position: ' Cook ',
          tags: ['food'],
          description: 'Soup',
          location: 'Lisbon, ',
          salary_min: 0,
          salary_max: 0,
          url: 'https://remoteOK.com/remote-jobs/remote-cook-acme-9',
        },
      ],
      {
        id: 'remoteok:remoteok.com:9',
        title: 'Cook',
        company: 'Acme&Sons',
        location: 'Lisbon',
        remote_status: 'remote',
        employment_type: 'unknown',
        first_observed_at: '2026-08-02T21:05:22.000Z',
      },
    ],
  ],
  jsonld: [
    [
      'one object',
      posting({}),
      {
        id: 'jsonld:jobs.acme.example:C-17',
        title: 'Cook & Baker',
        company: 'Acme Foods',
        company_domain: 'acme.example',
        location: 'Lyon, Auvergne-Rhône-Alpes, FR',
        remote_status: 'unknown',
        employment_type: 'full_time',
        first_observed_at: '2026-05-01T00:00:00.000Z',
        status: 'active',
      },
    ],
    [
      'a graph',
      {
        '@context': 'https://schema.org',
        '@graph': [{ '@type': 'WebPage' }, posting({ jobLocationType: 'TELECOMMUTE' })],
      },
      { remote_status: 'remote' },
    ],
    [
      'one of several ways, and where it may be',
      posting({
        jobLocation: undefined,
        jobLocationType: ['ON_SITE', 'telecommute'],
        applicantLocationRequirements: [
          { '@type': 'Country', name: 'FR' },
          { '@type': 'Country', name: 'BE' },
        ],
      }),
      { remote_status: 'remote', location: 'FR; BE' },
    ],
    ['a type that begins as remote', posting({ jobLocationType: 'TELECOMMUTE_PARTLY' }), { remote_status: 'unknown' }],
    ['a type that ends as remote', posting({ jobLocationType: 'NO_TELECOMMUTE' }), { remote_status: 'unknown' }],
    [
      'two places, an internship, past its end',
      [
        posting({
          jobLocation: [place('Lyon', null, 'FR'), place('Metz', null, 'FR')],
          employmentType: ['INTERN'],
          validThrough: '2026-06-01T00:00:00+02:00',
        }),
      ],
      {
        location: 'Lyon, FR; Metz, FR',
        employment_type: 'internship',
        status: 'closed',
        last_observed_at: '2026-05-31T22:00:00.000Z',
      },
    ],
    [
      'types that exclude each other',
      posting({ employmentType: ['FULL_TIME', 'PART_TIME'] }),
      { employment_type: 'unknown' },
    ],
    [
      'an identifier that is text, and an organisation without an address',
      posting({ identifier: 'X9', hiringOrganization: { name: ' Acme  Foods ' } }),
      { id: 'jsonld:jobs.acme.example:X9', company: 'Acme Foods', company_domain: null },
    ],
  ],
  themuse: [
    ['remote', muse({}), { location: 'Flexible / Remote', remote_status: 'remote', employment_type: 'unknown' }],
    ['no location', muse({ locations: [] }), { location: null, remote_status: 'unknown' }],
    [
      'a place whose name begins so',
      muse({ locations: [{ name: 'Flexible / Remote Island, AK' }] }),
      { remote_status: 'unknown' },
    ],
    [
      'a place whose name ends so',
      muse({ locations: [{ name: 'Not Flexible / Remote' }] }),
      { remote_status: 'unknown' },
    ],
    [
      'an internship among other levels',
      muse({ levels: [{ name: 'Internship' }, { name: 'Entry Level' }] }),
      { employment_type: 'unknown' },
    ],
  ],
  native: [
    ['the least', native({}), { id: 'acme-1', title: 'Cook', first_observed_at: '2026-05-01T08:00:00Z' }],
    ['a bare date', native({ first_observed_at: '2026-05-01' }), { first_observed_at: '2026-05-01' }],
    ['a closed one', native({ status: 'closed' }), { status: 'closed' }],
    ['its own skills', native({ skills: ['Soup'] }), { skills: ['Soup'] }],
    ['a list of one', [native({ id: 'acme-2', remote_status: 'hybrid' })], { id: 'acme-2', remote_status: 'hybrid' }],
  ],
};

describe('rows in the form of their publisher', () => {
  const all = Object.entries(rows).flatMap(([shape, list]) => list.map((row) => [shape, ...row] as const));
  it.each(all)('%s: %s', (shape, _because, document, expected) => {
    const known = shapeOfDocument(document, SHAPES);
    expect(known?.shape.name).toBe(shape);
    const shaped = known?.shape.nativeOf(known.found.records[0], {
      fileName: null,
      observedAtMs: Date.parse(OBSERVED_AT),
      board: { company: null, domain: null },
      manifest: new Map(),
      envelope: known.found.envelope ?? NO_ENVELOPE,
    });
    expect(shaped?.ok ? shaped.record : shaped).toMatchObject(expected);
  });
});
