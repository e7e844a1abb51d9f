/**
 * Real rows of every shape, read through by hand and compared with what becomes of them. Where a file has fewer than five
 * rows, all of them are here. Ashby and SimplifyJobs have their own files.
 */
import { describe, expect, it } from 'vitest';
import { NO_ENVELOPE, type ShapeContext } from '../../../src/ingest/shapes/shape.ts';
import { SHAPES } from '../../../src/ingest/shapes/shapes.ts';
import { realDataMissing, skippedWithout } from '../real-data.ts';
import { realShape } from '../real-shapes.ts';

const OBSERVED_AT = '2026-09-01T00:00:00.000Z';

function contextOf(fileName: string | null, envelope = NO_ENVELOPE): ShapeContext {
  const board = { company: null, domain: null };
  return { fileName, observedAtMs: Date.parse(OBSERVED_AT), board, manifest: new Map(), envelope };
}

/** The row that `which` picks: by the value of a field, or by its place. */
type Golden = readonly [
  file: string,
  which: readonly [field: string, value: unknown] | number,
  expected: Readonly<Record<string, unknown>>,
];

const ms = (epochMs: number) => new Date(epochMs).toISOString();

const golden: Readonly<Record<string, readonly Golden[]>> = {
  greenhouse: [
    [
      'greenhouse-aggregate-2026-01-08.part1.json.gz',
      ['id', 5720898004],
      {
        id: 'greenhouse:tipaltisolutions:5720898004',
        title: 'Staff Software Engineer',
        company: 'tipaltisolutions',
        company_domain: null,
        location: 'London, England, United Kingdom',
        department: null,
        remote_status: 'unknown',
        employment_type: 'unknown',
        source_url: 'https://tipalti.com/jobs/?gh_jid=5720898004',
        description: null,
        first_observed_at: OBSERVED_AT,
        last_observed_at: OBSERVED_AT,
        status: 'active',
      },
    ],
    [
      'greenhouse-aggregate-2026-01-08.part1.json.gz',
      ['id', 7521159],
      { id: 'greenhouse:formlabs:7521159', company_domain: null, location: 'Boston, MA' },
    ],
    [
      'greenhouse-anthropic.json',
      ['id', 5076754008],
      {
        id: 'greenhouse:anthropic:5076754008',
        title: 'Revenue Accounting',
        company: 'Anthropic',
        company_domain: null,
        location: 'San Francisco, CA | Seattle, WA',
        first_observed_at: '2026-01-19T19:35:18.000Z',
      },
    ],
    [
      'greenhouse-coupang.json',
      ['id', 8002614],
      {
        id: 'greenhouse:coupang:8002614',
        title: '[쿠팡] 가격정책·운영개선 리더 / Senior Pricing Program Manager (Seller Excellence)',
        company: 'Coupang',
        company_domain: null,
        location: 'Seoul, South Korea',
        first_observed_at: '2026-06-18T15:18:55.000Z',
      },
    ],
    [
      'greenhouse-luno.2026-08-08.json',
      ['id', 8102507],
      {
        id: 'greenhouse:luno:8102507',
        title: 'Product Manager - Institutional API & Digital Asset Accounts',
        company: 'Luno',
        location: 'Cape Town & Johannesburg',
        department: 'Product',
        first_observed_at: '2026-08-04T08:07:57.000Z',
      },
    ],
    [
      'greenhouse-phonepe.json',
      ['id', 7780995003],
      { company: 'PhonePe', location: 'Bangalore', department: 'Financial Services Compliance' },
    ],
    [
      'greenhouse-okta.2025-10-28.json',
      ['id', 7251087],
      {
        id: 'greenhouse:okta:7251087',
        company: 'Okta',
        company_domain: null,
        location: 'Chicago, Illinois',
        first_observed_at: '2025-09-16T20:03:19.000Z',
      },
    ],
    [
      'greenhouse-canonical.json',
      ['id', 7962419],
      { location: 'Home based - EMEA; Office Based - London, UK', remote_status: 'unknown' },
    ],
  ],
  lever: [
    [
      'lever-binance.2026-08-08.json.gz',
      ['id', '98675df4-de04-4859-a402-3e2631dec06a'],
      {
        id: 'lever:binance:98675df4-de04-4859-a402-3e2631dec06a',
        title: 'Product and Funnel Optimisation Manager - CIS',
        company: 'binance',
        company_domain: null,
        location: 'CIS Region; Global',
        department: 'Marketing',
        remote_status: 'remote',
        employment_type: 'full_time',
        source_url: 'https://jobs.lever.co/binance/98675df4-de04-4859-a402-3e2631dec06a',
        first_observed_at: ms(1782935097322),
        last_observed_at: OBSERVED_AT,
        status: 'active',
      },
    ],
    [
      'lever-binance.2026-08-08.json.gz',
      ['id', '5b9c23ed-88de-495c-a7f6-136c3afd9676'],
      { employment_type: 'unknown', department: 'Business Development', first_observed_at: ms(1781761878644) },
    ],
    [
      'lever-yassir.2026-08-20.json.gz',
      ['id', '0aa9d59a-06f4-42bb-9357-63692eeee80c'],
      {
        id: 'lever:yassir:0aa9d59a-06f4-42bb-9357-63692eeee80c',
        title: 'Data Analyst ( Financial Services )',
        employment_type: 'contract',
        remote_status: 'hybrid',
        source_url: 'https://jobs.lever.co/Yassir/0aa9d59a-06f4-42bb-9357-63692eeee80c',
      },
    ],
    [
      'lever-yassir.2026-08-20.json.gz',
      ['id', '0da44d78-f0a1-4d4c-9423-b8dee2e48a25'],
      { remote_status: 'on_site', employment_type: 'full_time', location: 'Algiers, Algeria' },
    ],
    [
      'lever-moo.2026-08-08.json',
      ['id', '2ee097b2-cc6a-4f17-84fc-fa8603411eb0'],
      { title: 'Technical Production Artworker', employment_type: 'temporary', location: 'Cape Town, South Africa' },
    ],
    [
      'lever-palantir.json',
      ['id', 'ab7e3425-81d5-4705-a7b5-cd60c8a45cdb'],
      { company: 'palantir', department: 'Dev', location: 'New York, NY', first_observed_at: ms(1710191082166) },
    ],
  ],
  smartrecruiters: [
    [
      'smartrecruiters-westerndigital.json',
      ['id', '744000143761249'],
      {
        id: 'smartrecruiters:WesternDigital:744000143761249',
        title: 'Technician 2, Failure Analysis Engineering',
        company: 'Western Digital',
        company_domain: null,
        location: 'Bayan Lepas, Penang, Malaysia',
        department: 'Engineering',
        remote_status: 'unknown',
        employment_type: 'full_time',
        source_url: 'https://jobs.smartrecruiters.com/WesternDigital/744000143761249',
        first_observed_at: '2026-08-17T07:35:02.787Z',
      },
    ],
    ['smartrecruiters-westerndigital.json', ['id', '744000143756489'], { department: 'Manufacturing' }],
    [
      'smartrecruiters-westerndigital.json',
      ['id', '744000143755890'],
      { location: 'BangPa-in, PHRA NAKHON SI AYUTTHAYA, Thailand' },
    ],
    [
      'smartrecruiters-westerndigital.json',
      ['id', '744000143748858'],
      { title: 'Senior Developer, Application Software Developer - M.tech only', location: 'Bengaluru, KA, India' },
    ],
    [
      'smartrecruiters-westerndigital.json',
      ['id', '744000143733879'],
      { title: 'Technician 4, Test Equipment Maintenance', first_observed_at: '2026-08-17T02:22:40.023Z' },
    ],
  ],
  workable: [
    [
      'workable-workable.json',
      0,
      {
        id: 'workable:workable:401786A940',
        title: 'Implementation Manager',
        company: 'Workable',
        company_domain: null,
        location: 'Boston, Massachusetts, United States',
        department: 'Operations',
        remote_status: 'unknown',
        employment_type: 'full_time',
        source_url: 'https://apply.workable.com/j/401786A940',
        first_observed_at: '2026-06-22T00:00:00.000Z',
      },
    ],
    [
      'workable-zaelab.json',
      0,
      {
        id: 'workable:zaelab:DD136DD7E7',
        company: 'Zaelab',
        location: 'Spain; Portugal',
        remote_status: 'remote',
        employment_type: 'unknown',
        department: 'Business Consulting',
        first_observed_at: '2026-08-05T00:00:00.000Z',
      },
    ],
  ],
  recruitee: [
    [
      'recruitee-aikido.json',
      ['id', 2705729],
      {
        id: 'recruitee:aikidosecurity:2705729',
        title: 'Office Manager Chicago',
        company: 'Aikido Security',
        company_domain: null,
        location: 'Chicago, Illinois, United States',
        department: 'Operations',
        remote_status: 'on_site',
        employment_type: 'full_time',
        source_url: 'https://aikidosecurity.recruitee.com/o/office-manager-chicago',
        status: 'active',
      },
    ],
    [
      'recruitee-aikido.json',
      ['id', 2707521],
      { location: 'Tel Aviv, Israel', remote_status: 'remote', first_observed_at: '2026-08-11T20:45:29.000Z' },
    ],
    ['recruitee-aikido.json', ['id', 2707517], { location: 'Dubai, United Arab Emirates', department: 'Sales' }],
  ],
  teamtailor: [
    [
      'teamtailor-teamtailor.json',
      0,
      {
        id: 'teamtailor:career:20fafb7d-f013-4061-b6de-2894b3e0838b',
        title: 'Account Executive - Italy (Madrid based)',
        company: 'Teamtailor',
        company_domain: null,
        location: 'Madrid, Europe, ES',
        remote_status: 'unknown',
        employment_type: 'unknown',
        first_observed_at: '2026-02-04T08:26:20.000Z',
      },
    ],
    [
      'teamtailor-teamtailor.json',
      1,
      { location: 'Stockholm, Sweden, SE; København, Europe, DK', first_observed_at: '2026-01-18T18:35:57.000Z' },
    ],
  ],
  workday: [
    [
      'workday-scraped-aig.json',
      0,
      {
        id: 'workday:aig/aig:JR2601392',
        title: 'Head of Compliance, Singapore',
        company: 'aig',
        company_domain: null,
        location: 'Singapore',
        department: null,
        remote_status: 'unknown',
        employment_type: 'full_time',
        source_url: 'https://aig.wd1.myworkdayjobs.com/aig/job/Singapore/Head-of-Compliance--Singapore_JR2601392',
        first_observed_at: '2026-04-08T00:00:00.000Z',
        last_observed_at: OBSERVED_AT,
        status: 'active',
      },
    ],
    ['workday-scraped-aig.json', 4, { id: 'workday:aig/aig:JR2504494', title: 'Broker Director', location: 'London' }],
    ['workday-scraped-aig.json', 8, { location: 'NY-New York; NJ-Parsippany; NJ-Jersey City' }],
    ['workday-scraped-aig.json', 12, { title: 'Benefits Manager, Canada', location: 'Toronto' }],
    ['workday-scraped-aig.json', 16, { title: 'Senior Underwriter A&H (w/m/d)', location: 'Vienna' }],
    [
      'workday-scraped-aig.json',
      ['external_path', '/job/Mexico-City/Senior-Underwriting-Property_JR2600860'],
      { status: 'closed', last_observed_at: '2026-06-30T00:00:00.000Z' },
    ],
  ],
  usajobs: [
    [
      'usajobs-agriculture.json.gz',
      ['control_number', 789442100],
      {
        id: 'usajobs:department-of-agriculture:789442100',
        title: 'Logistics Dispatcher',
        company: 'Forest Service',
        company_domain: null,
        location: null,
        department: 'Department of Agriculture',
        remote_status: 'unknown',
        employment_type: 'temporary',
        source_url: 'https://www.usajobs.gov/job/789442100',
        first_observed_at: '2024-05-02T00:00:00.000Z',
        last_observed_at: '2024-05-09T00:00:00.000Z',
        status: 'closed',
      },
    ],
    ['usajobs-education.json', ['control_number', 782692700], { employment_type: 'internship', status: 'closed' }],
    [
      'usajobs-transportation.json.gz',
      ['control_number', 837618300],
      { title: 'Airway Transportation Systems Specialist', employment_type: 'unknown' },
    ],
    ['usajobs-commerce.json.gz', ['control_number', 824398500], { employment_type: 'temporary' }],
    ['usajobs-health_and_human_services.json.gz', ['control_number', 775522800], { employment_type: 'unknown' }],
  ],
  jobspy: [
    [
      'jobspy-2024-04-16.csv.gz',
      ['job_url', 'https://www.indeed.com/viewjob?jk=e9097ce903da06a5'],
      {
        title: 'QA Automation Engineer',
        company: 'vk technology',
        location: 'Bentonville, AR, US',
        remote_status: 'remote',
        employment_type: 'contract',
        first_observed_at: '2024-04-16T00:00:00.000Z',
        last_observed_at: '2024-04-16T00:00:00.000Z',
      },
    ],
    [
      'jobspy-2024-04-20.csv.gz',
      ['job_url', 'https://www.indeed.com/viewjob?jk=3b232ebbbae11d66'],
      {
        company: 'Firefly Aerospace',
        company_domain: 'firefly.com',
        first_observed_at: '2024-04-15T00:00:00.000Z',
        last_observed_at: '2024-04-20T00:00:00.000Z',
      },
    ],
    [
      'jobspy-mixed-2024-04.csv.gz',
      ['job_url', 'https://www.linkedin.com/jobs/view/3899416372'],
      { company: 'Triunity Software, Inc.', remote_status: 'unknown', first_observed_at: '2024-04-14T00:00:00.000Z' },
    ],
    [
      'jobspy-q3-biz-ops.csv',
      ['id', 'in-5dbd378e510d9ef2'],
      {
        id: 'jobspy:indeed:in-5dbd378e510d9ef2',
        employment_type: 'unknown', // "temporary, parttime, contract": two that exclude each other
        remote_status: 'remote',
        first_observed_at: '2026-03-27T00:00:00.000Z',
        last_observed_at: OBSERVED_AT,
      },
    ],
    [
      'jobspy-json-apple.json',
      ['id', '200644988-0865'],
      {
        id: 'jobspy:apple:200644988-0865',
        company_domain: 'jobs.apple.com',
        remote_status: 'unknown',
        first_observed_at: '2026-06-02T00:00:00.000Z',
      },
    ],
    ['jobspy-json-google-careers.json', ['id', '128549856107995846'], { company: 'Google', remote_status: 'remote' }],
  ],
  linkedin: [
    [
      'linkedin-postings-2024-cp1252.csv',
      ['job_id', '3904960023'],
      {
        id: 'linkedin:jobs:3904960023',
        title: 'CFO',
        company: 'Robert Half',
        company_domain: null,
        location: 'Mason City, IA',
        remote_status: 'remote',
        employment_type: 'full_time',
        source_url: 'https://www.linkedin.com/jobs/view/3904960023/?trk=jobs_biz_prem_srch',
        first_observed_at: ms(1.71345e12),
        last_observed_at: ms(1.71605e12),
        status: 'closed',
      },
    ],
    ['linkedin-postings-2024-cp1252.csv', ['job_id', '3901698832'], { company: 'Order.co', location: 'New York, NY' }],
    [
      'linkedin-postings-2024-cp1252.csv',
      ['job_id', '3900959279'],
      { title: 'Federal Regional Director of Sales (Remote, DMV)', last_observed_at: ms(1.71598e12) },
    ],
    ['linkedin-postings-2024-cp1252.csv', ['job_id', '3903452939'], { employment_type: 'contract' }],
    [
      'linkedin-postings-2024-cp1252.csv',
      ['job_id', '3900959273'],
      { company: 'Russell Tobin', title: 'Database Developer' },
    ],
  ],
  jsonld: [
    [
      'jsonld-workday-medtronic-page.html',
      0,
      {
        id: 'jsonld:medtronic.wd1.myworkdayjobs.com:R60129',
        title: 'Engineering Manager',
        company: 'IN2 COV - COV Engineering Services PL',
        company_domain: null,
        location: 'IND-TS Hyderabad Nanakramguda, India',
        remote_status: 'remote',
        employment_type: 'full_time',
        source_url: 'https://medtronic.wd1.myworkdayjobs.com/en-US/MedtronicCareers/job/Engineering-Manager_R60129-1',
        first_observed_at: '2026-04-03T00:00:00.000Z',
        status: 'active',
      },
    ],
  ],
  remotive: [
    [
      'remoteboard-remotive.json',
      ['id', 2091081],
      {
        id: 'remotive:remotive.com:2091081',
        title: 'Senior Graphic Designer',
        company: 'Lemon.io',
        location: 'Americas, Europe, Asia, Africa, Oceania',
        remote_status: 'remote',
        employment_type: 'full_time',
        first_observed_at: '2026-07-28T14:23:05.000Z',
      },
    ],
    ['remoteboard-remotive.json', ['id', 2090903], { employment_type: 'contract', company: 'Workada' }],
    ['remoteboard-remotive.json', ['id', 2091075], { employment_type: 'full_time', company: 'Outsite' }],
    ['remoteboard-remotive.json', ['id', 2091074], { employment_type: 'part_time', location: 'USA' }],
    ['remoteboard-remotive.json', ['id', 2091072], { employment_type: 'unknown', location: 'Worldwide' }],
  ],
  remoteok: [
    [
      'remoteboard-remoteok.json',
      ['id', '1135929'],
      {
        id: 'remoteok:remoteok.com:1135929',
        title: 'Compatibility',
        company: 'DanielTems',
        location: 'How',
        remote_status: 'remote',
        employment_type: 'unknown',
        first_observed_at: '2026-08-02T21:05:22.000Z',
      },
    ],
    ['remoteboard-remoteok.json', ['id', '1136039'], { company: 'Anansewaa', location: 'Sonipat' }],
    ['remoteboard-remoteok.json', ['id', '1135927'], { title: 'Menu', first_observed_at: '2026-08-02T20:31:52.000Z' }],
    ['remoteboard-remoteok.json', ['id', '1135924'], { company: 'Deliberate Development', location: 'Success' }],
  ],
  arbeitnow: [
    [
      'remoteboard-arbeitnow.json',
      ['slug', 'ml-product-engineer-heidelberg-60723'],
      {
        id: 'arbeitnow:arbeitnow.com:ml-product-engineer-heidelberg-60723',
        title: 'ML Product Engineer',
        company: 'kausable GmbH',
        location: 'Heidelberg',
        remote_status: 'unknown',
        employment_type: 'unknown',
        first_observed_at: ms(1785792634000),
      },
    ],
    ['remoteboard-arbeitnow.json', ['slug', 'technical-co-founder-cto-aureas-munich-353142'], { company: 'aureas' }],
    [
      'remoteboard-arbeitnow.json',
      ['slug', 'senior-product-owner-hamburg-berlin-302643'],
      { location: 'Hamburg, Berlin' },
    ],
    ['remoteboard-arbeitnow.json', ['slug', 'director-of-data-berlin-456700'], { title: 'Director of Data (m/f/d)' }],
    [
      'aggregator-arbeitnow.csv.gz',
      ['slug', 'part-time-tech-lead-mobile-app-platform-offenbach-54871'],
      { remote_status: 'remote', employment_type: 'contract', first_observed_at: ms(1781622041000) },
    ],
  ],
  themuse: [
    [
      'remoteboard-themuse.json.gz',
      ['id', 21965079],
      {
        id: 'themuse:themuse.com:21965079',
        title: 'Senior Director, Product Design',
        company: 'Nanit',
        location: 'New York, NY',
        remote_status: 'unknown',
        employment_type: 'unknown',
        source_url: 'https://www.themuse.com/jobs/nanit/senior-director-product-design-c3fa45',
        first_observed_at: '2026-07-17T23:29:06.000Z',
      },
    ],
    ['remoteboard-themuse.json.gz', ['id', 19258107], { location: 'Flexible / Remote', remote_status: 'remote' }],
    [
      'remoteboard-themuse.json.gz',
      ['id', 5526783],
      { location: 'Flexible / Remote; Los Angeles, CA; Oakland, CA', remote_status: 'unknown' },
    ],
    ['remoteboard-themuse.json.gz', ['id', 22030637], { employment_type: 'internship', location: 'Istanbul, Turkey' }],
    ['remoteboard-themuse.json.gz', ['id', 22038799], { company: 'The Coca-Cola Company' }],
  ],
  listing: [
    [
      'aggregator-agency-roles.jsonl.gz',
      ['id', '68c51a336214'],
      {
        id: 'listing:hovercraft:greenhouse-68c51a336214',
        title: 'Spatial Designer (Freelance)',
        company: 'Hovercraft',
        location: 'Remote, United States',
        remote_status: 'remote',
        employment_type: 'contract',
        first_observed_at: '2026-08-05T00:00:00.000Z',
      },
    ],
    [
      'aggregator-new-grad-2027.csv.gz',
      ['job_id', 'paypal-R0137221'],
      {
        id: 'listing:paypal:eightfold-paypal-R0137221',
        location: 'San Jose, California, United States of America',
        department: 'Machine Learning Engineering',
        remote_status: 'on_site',
        first_observed_at: '2026-08-11T04:04:05.000Z',
        last_observed_at: '2026-08-22T14:48:01.000Z',
      },
    ],
    [
      'aggregator-ece-internships.csv.gz',
      ['Application Link', 'https://www.linkedin.com/jobs/view/4302699681'],
      {
        title: 'Test Automation & Firmware Engineering Intern',
        company: 'SANMINA-SCI TECHNOLOGY INDIA PRIVATE LIMITED',
        location: 'Colorado Springs, CO',
        first_observed_at: '2025-09-24T00:00:00.000Z',
        status: 'active',
      },
    ],
    [
      'aggregator-justjoinit.jsonl',
      ['external_id', '608e2f64-a1f7-46f1-9a6f-eb764a844f5a'],
      { company: 'Fitatu Sp. z o.o.', location: 'Poznań', remote_status: 'remote' },
    ],
    [
      'aggregator-open-jobs-data.2026-08-04.csv.gz',
      ['jobId', '7954688'],
      {
        id: 'listing:stripe:greenhouse-7954688',
        location: 'San Francisco, CA',
        remote_status: 'unknown',
        employment_type: 'unknown',
        first_observed_at: '2026-06-02T12:58:57.000Z',
        last_observed_at: '2026-08-04T08:24:44.032Z',
      },
    ],
    [
      'aggregator-open-jobs-data.new.2026-08-22.json',
      ['jobId', '8141211'],
      { location: 'Singapore', first_observed_at: '2026-08-22T06:25:05.957Z' },
    ],
  ],
};

describe.skipIf(realDataMissing)(`real rows, checked by hand${skippedWithout}`, () => {
  const rows = Object.entries(golden).flatMap(([shape, list]) => list.map((row) => [shape, ...row] as const));
  it.each(rows)('%s: %s %j', async (shape, file, which, expected) => {
    const real = await realShape(file);
    expect(real.shape.name).toBe(shape);
    const record =
      typeof which === 'number'
        ? real.records[which]
        : real.records.find((item) => (item as Record<string, unknown>)[which[0]] === which[1]);
    const shaped = real.shape.nativeOf(record, contextOf(real.fileName, real.envelope));
    expect(shaped.ok ? shaped.record : shaped).toMatchObject(expected);
  });

  const refusals: readonly [file: string, index: number, field: string][] = [
    ['jsonld-topcv.json', 0, 'url'],
    ['jsonld-workday-medtronic.json', 0, 'url'],
    ['jsonld-workday-medtronic.json', 2, 'hiringOrganization'],
    ['workday-cxs-nvidia.json', 0, 'externalPath'],
    ['workday-cxs-nvidia.json', 9, 'externalPath'],
    ['linkedin-postings-2023.csv.gz', 0, 'company_name'],
  ];
  it.each(refusals)('%s, row %i has no %s and is refused alone', async (file, index, field) => {
    const real = await realShape(file);
    const shaped = real.shape.nativeOf(real.records[index], contextOf(real.fileName, real.envelope));
    expect(shaped).toMatchObject({ ok: false, field });
  });

  const nvidia: readonly [index: number, expected: Readonly<Record<string, unknown>>][] = [
    [
      0,
      {
        id: 'workday:nvidia/NVIDIAExternalCareerSite:JR2021016',
        title: 'Verification Engineer - New College Grad 2026',
        company: 'NVIDIA',
        company_domain: 'nvidia.com',
        location: null,
        source_url:
          'https://nvidia.wd5.myworkdayjobs.com/NVIDIAExternalCareerSite/job/US-CA-Santa-Clara/Verification-Engineer---New-College-Grad-2026_JR2021016',
        first_observed_at: OBSERVED_AT,
      },
    ],
    [1, { id: 'workday:nvidia/NVIDIAExternalCareerSite:JR2018518', location: 'US, CA, Santa Clara' }],
  ];
  it.each(nvidia)('a list of Workday gets its addresses from the manifest: row %i', async (index, expected) => {
    const real = await realShape('workday-cxs-nvidia.json');
    const url = 'https://nvidia.wd5.myworkdayjobs.com/NVIDIAExternalCareerSite';
    const manifest = new Map([['workday-cxs-nvidia.json', { company: 'NVIDIA', domain: 'nvidia.com', url }]]);
    const shaped = real.shape.nativeOf(real.records[index], { ...contextOf(real.fileName, real.envelope), manifest });
    expect(shaped.ok ? shaped.record : shaped).toMatchObject(expected);
  });

  it('knows every shape of the list in a real file', () => {
    const covered = [...Object.keys(golden), 'ashby', 'simplify', 'native'];
    expect(covered.sort()).toEqual(SHAPES.map(({ name }) => name).sort());
  });
});
