/** GET /v1/companies, aliases in `company=`, and the limitation about assigned domains (decisions §8). */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findCompanies } from '../../src/modules/jobs/companies.ts';
import { summarizeCompany } from '../../src/modules/jobs/company.ts';
import { searchJobs } from '../../src/modules/jobs/search.ts';
import { type Answer, expectError, expectPaid, parsedBody } from '../support/answers.ts';
import { buildSnapshot, jobLine } from '../support/catalogue-files.ts';
import { type JobsApp, openJobsApp } from '../support/jobs-app.ts';
import { RUNTIME } from '../support/opened-app.ts';
import { suiteFolder } from '../support/scratch-folder.ts';
import { wallet } from '../support/wallet.ts';

const folder = suiteFolder();

/** `count` jobs of one company, the last `closed` of them closed. */
function jobs(company: string, domain: string | null, count: number, more: object = {}, closed = 0) {
  return Array.from({ length: count }, (_, place) =>
    jobLine({
      ...{ id: `${company}-${place}`, company, company_domain: domain, ...more },
      status: place < count - closed ? 'active' : 'closed',
    }),
  );
}

const JOBS = [
  ...jobs('Acme', 'acme.com', 3, {
    department: null,
    company_domain_evidence: 'links',
    company_aliases: ['careers.acme.com', 'acme.jobs'],
  }),
  ...jobs('Acme Bakery', 'bakery.example', 5),
  ...jobs('ACME Zürich', null, 1),
  ...jobs('Zenith', 'acme-zenith.com', 2, {}, 2),
  ...jobs('Other', 'other.com', 3, { company_domain_evidence: 'manifest' }),
  ...jobs('Other too', 'other.com', 1, { department: null, company_domain_evidence: 'manifest' }),
  ...Array.from({ length: 12 }, (_, place) =>
    jobLine({ id: `m${place}`, company: `Many ${place}`, company_domain: `m${place}.com` }),
  ),
];

describe(`companies, under ${RUNTIME}`, () => {
  let app: JobsApp;
  beforeAll(async () => {
    const file = join(folder, 'c.snapshot');
    await buildSnapshot(file, JOBS);
    app = await openJobsApp({ SNAPSHOT: file, RATE_LIMIT_PER_MINUTE: '0' });
  });
  afterAll(() => app.close());

  const found = async (q: string) => {
    const answer = await app.get(`/v1/companies?q=${encodeURIComponent(q)}`);
    expect(answer.status).toBe(200);
    return parsedBody(answer, findCompanies.answer) as {
      data: { companies: { name: string; domain: string | null }[]; returned_companies: number };
      meta: object;
    };
  };
  const bought = async (path: string): Promise<Answer> => {
    const account = wallet();
    const answer = await app.pay(path, await app.payment(path, account));
    expectPaid(answer, account.address);
    return answer;
  };

  it.each([
    ['acme', ['Acme Bakery', 'Acme', 'ACME Zürich', 'Zenith']],
    ['ACME bakery', ['Acme Bakery']],
    ['.com acme', ['Acme', 'Zenith']],
    ['zenith', ['Zenith']],
    ['zürich', ['ACME Zürich']],
    ['nothing', []],
  ])('%s finds %j, most active jobs first', async (q, names) => {
    const { data } = await found(q);
    expect([data.companies.map(({ name }) => name), data.returned_companies]).toEqual([names, names.length]);
  });

  it('answers names and domains, ten at most, free and without a payment', async () => {
    const { data, meta } = await found('many');
    expect(data.companies).toHaveLength(10);
    expect(data.companies[0]).toEqual({ name: 'Many 0', domain: 'm0.com' });
    expect(Object.keys(meta)).toEqual(['generated_at']);
    expect((await found('zürich')).data.companies).toEqual([{ name: 'ACME Zürich', domain: null }]);
  });

  it.each([
    ['', 'MISSING_PARAMETER'],
    ['?q=a', 'INVALID_PARAMETER'],
    ['?q=%20a%20', 'INVALID_PARAMETER'],
    [`?q=${'a'.repeat(81)}`, 'INVALID_PARAMETER'],
    ['?q=a+b+c+d+e+f+g+h+i', 'INVALID_PARAMETER'],
    ['?q=ab&q=cd', 'DUPLICATE_PARAMETER'],
    ['?q=ab&limit=3', 'UNKNOWN_PARAMETER'],
  ])('refuses %j', async (query, code) => {
    expectError(await app.get(`/v1/companies${query}`), 400, code);
  });

  it.each([`?q=${'a'.repeat(80)}`, '?q=ab', '?q=a+b+c+d+e+f+g+h'])('takes %j', async (query) => {
    expect((await app.get(`/v1/companies${query}`)).status).toBe(200);
  });

  it('company= finds a company by its alias, and the answer shows its domain', async () => {
    for (const company of ['acme.com', 'careers.acme.com', 'ACME.jobs']) {
      const answer = await bought(`/v1/jobs/company?company=${company}`);
      expect(parsedBody(answer, summarizeCompany.answer)).toMatchObject({
        data: { company: { name: 'Acme', domain: 'acme.com' }, active_job_count: 3 },
      });
      const search = await bought(`/v1/jobs/search?company=${company}&limit=1`);
      expect(parsedBody(search, searchJobs.answer)).toMatchObject({ data: { jobs: [{ company_domain: 'acme.com' }] } });
    }
  });

  const metaOf = async (path: string) =>
    (
      JSON.parse((await bought(path)).text) as {
        meta: { limitations: string[]; coverage: object; methodology: object };
      }
    ).meta;
  const limitationsOf = async (path: string, word: string) =>
    (await metaOf(path)).limitations.filter((text) => text.includes(word));

  it('limitations say for how many jobs of the cohort the domain was assigned', async () => {
    expect(await limitationsOf('/v1/jobs/company?company=acme.com', 'assigned')).toEqual([
      expect.stringContaining('For 3 of the 3 jobs'),
    ]);
    expect(await limitationsOf('/v1/jobs/signals', 'assigned')).toEqual([
      expect.stringContaining('For 3 of the 25 jobs'),
    ]);
    expect(await limitationsOf('/v1/jobs/company?company=other.com', 'assigned')).toEqual([]);
  });

  it.each([
    ['acme.com', [expect.stringContaining('For 1 of the 1 jobs')]],
    ['other.com', []],
    ['bakery.example', []],
  ])('limitations of a job of %s say whether its domain was assigned', async (company, limitations) => {
    const search = parsedBody(await bought(`/v1/jobs/search?company=${company}&limit=1`), searchJobs.answer);
    const [job] = (search as { data: { jobs: { id: string }[] } }).data.jobs;
    expect(await limitationsOf(`/v1/jobs/detail?id=${job!.id}`, 'assigned')).toEqual(limitations);
  });

  it.each([
    ['', 'active jobs, no filter'],
    ['?role=engineer', 'active jobs whose title contains every term of "engineer"'],
    [
      '?location=oslo&department=Engineering',
      'active jobs whose location contains every term of "oslo" and department is "Engineering"',
    ],
  ])('signals%s say what counts: %s', async (query, criterion) => {
    const { data } = JSON.parse((await bought(`/v1/jobs/signals${query}`)).text);
    expect(data.companies[0].supporting_evidence).toMatchObject({ criterion });
  });

  it('limitations of counts say how many jobs of the cohort have no recorded department', async () => {
    const about = (path: string) => limitationsOf(path, 'no recorded department');
    for (const path of ['/v1/jobs/signals', '/v1/jobs/changes', '/v1/jobs/skills', '/v1/jobs/market']) {
      expect(await about(path)).toEqual([expect.stringMatching(/^4 of the 25 jobs of the cohort have no /)]);
    }
    expect(await about('/v1/jobs/company?company=other.com')).toEqual([expect.stringMatching(/^1 of the 4 jobs of /)]);
    expect(await about('/v1/jobs/skills?company=acme.com')).toEqual([expect.stringMatching(/^3 of the 3 jobs of /)]);
    expect(await about('/v1/jobs/company?company=bakery.example')).toEqual([]);
    expect(await about('/v1/jobs/search?keyword=acme')).toEqual([]);
    expect(await about('/v1/jobs/detail?id=Acme-0')).toEqual([]);
  });

  it('the coverage of one job names it, active or closed, and neither a cohort nor current jobs', async () => {
    for (const id of ['Acme-0', 'Zenith-1']) {
      const { coverage, methodology } = await metaOf(`/v1/jobs/detail?id=${id}`);
      expect(coverage).toMatchObject({
        aggregation: 'none: the answer is one job',
        selection: 'the job with the requested id, active or closed',
        ...{ sampled: false, candidate_jobs: 1, candidate_scope: 'monitored catalogue' },
      });
      expect(methodology).toMatchObject({
        historical_changes: 'not part of this answer: it describes one job as it was last recorded',
      });
    }
  });

  it('changes say that all jobs of a new board count as first observed', async () => {
    const { methodology } = await metaOf('/v1/jobs/changes?company=acme.com');
    expect(methodology).toMatchObject({
      historical_changes: expect.stringContaining('all jobs of a board that is followed'),
    });
  });

  it('counts against the rate of the jobs routes', async () => {
    const rated = await openJobsApp({
      SNAPSHOT: join(folder, 'c.snapshot'),
      RATE_LIMIT_PER_MINUTE: '2',
      LOCAL_BALANCE: '0',
    });
    expect((await rated.get('/v1/companies?q=acme')).status).toBe(200);
    expectError(await rated.get('/v1/jobs/search'), 402, 'PAYMENT_REQUIRED');
    expectError(await rated.get('/v1/companies?q=acme'), 429, 'RATE_LIMIT_EXCEEDED');
    await rated.close();
  });

  it('is 503 without a catalogue', async () => {
    const none = await openJobsApp({ SNAPSHOT: 'none' });
    expectError(await none.get('/v1/companies?q=acme'), 503, 'CATALOGUE_UNAVAILABLE');
    await none.close();
  });
});
