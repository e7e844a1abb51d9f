/** What of a jobs service's answer passes a gate (siblings §8): counts and closed lists hold in what is sold. */
import { describe, expect, it } from 'vitest';
import { findCompanies } from '../../../src/modules/jobs/companies.ts';
import { summarizeCompany } from '../../../src/modules/jobs/company.ts';
import { describeMarket } from '../../../src/modules/jobs/market.ts';
import { answerReader } from '../../../src/modules/jobs/remote.ts';
import { searchJobs } from '../../../src/modules/jobs/search.ts';
import { findSignals } from '../../../src/modules/jobs/signals.ts';

const reversed = (value: unknown): unknown => (value as unknown[]).toReversed();
const twice = (value: unknown): unknown[] => [...(value as unknown[]), ...(value as unknown[])];

describe('a gate', () => {
  it.each([
    ['search', 'returned_jobs', searchJobs, () => 2],
    ['search', 'returned_jobs', searchJobs, () => 0],
    ['search', 'jobs', searchJobs, twice],
    ['signals', 'returned_companies', findSignals, () => 2],
    ['signals', 'companies', findSignals, twice],
    ['companies', 'returned_companies', findCompanies, () => 0],
    ['market', 'by_remote_status', describeMarket, reversed],
    ['market', 'by_employment_type', describeMarket, reversed],
  ] as const)('passes an answer of %s, and none whose %s contradicts the rest', (_, name, declared, changed) => {
    const read = answerReader(declared);
    const { data, meta } = declared.examples!.answer as { data: Record<string, unknown>; meta: unknown };
    expect(read(200, JSON.stringify({ data, meta }))).toEqual({ data, meta });
    expect(read(200, JSON.stringify({ data: { ...data, [name]: changed(data[name]) }, meta }))).toBeUndefined();
  });

  const refusal = (code: string, message: string): string =>
    JSON.stringify({ error: { code, message, request_id: 'req_of_the_service' } });

  it('passes a 404 of the route with its message, and no other code, shape or length', () => {
    const read = answerReader(summarizeCompany);
    const longest = 'x'.repeat(500);
    expect(read(404, refusal('COMPANY_NOT_FOUND', longest))).toMatchObject({ status: 404, message: longest });
    for (const text of [
      refusal('COMPANY_NOT_FOUND', `${longest}x`),
      refusal('JOB_NOT_FOUND', 'of another route'),
      refusal('CATALOGUE_UNAVAILABLE', 'of another status'),
      refusal('COMPANY_NOT_FOUND', '').replace('"error"', '"more":1,"error"'),
      'null',
      '',
    ]) {
      expect(read(404, text)).toBeUndefined();
    }
  });

  it.each([
    ['search', searchJobs, 'jobs', 'returned_jobs'],
    ['signals', findSignals, 'companies', 'returned_companies'],
  ] as const)('passes no answer of %s with more than its limit', (_, declared, list, count) => {
    const { data, meta } = declared.examples!.answer as { data: Record<string, unknown>; meta: unknown };
    const two = { ...data, [list]: twice(data[list]), [count]: 2 };
    const read = answerReader(declared);
    expect(read(200, JSON.stringify({ data: { ...two, limit: 2 }, meta }))).toBeDefined();
    expect(read(200, JSON.stringify({ data: { ...two, limit: 1 }, meta }))).toBeUndefined();
  });
});
