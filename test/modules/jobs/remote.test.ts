/** What of a jobs service's answer passes a gate (siblings §8): counts and closed lists hold in what is sold. */
import { describe, expect, it } from 'vitest';
import { findCompanies } from '../../../src/modules/jobs/companies.ts';
import { describeMarket } from '../../../src/modules/jobs/market.ts';
import { answerReader } from '../../../src/modules/jobs/remote.ts';
import { searchJobs } from '../../../src/modules/jobs/search.ts';
import { findSignals } from '../../../src/modules/jobs/signals.ts';

const reversed = (value: unknown): unknown => (value as unknown[]).toReversed();
const twice = (value: unknown): unknown[] => [...(value as unknown[]), ...(value as unknown[])];

describe('a gate', () => {
  it.each([
    [searchJobs, 'returned_jobs', () => 2],
    [searchJobs, 'returned_jobs', () => 0],
    [searchJobs, 'jobs', twice],
    [findSignals, 'returned_companies', () => 2],
    [findSignals, 'companies', twice],
    [findCompanies, 'returned_companies', () => 0],
    [describeMarket, 'by_remote_status', reversed],
    [describeMarket, 'by_employment_type', reversed],
  ] as const)('passes the answer of $0.path, and none whose $1 contradicts the rest', (declared, name, changed) => {
    const read = answerReader(declared);
    const { data, meta } = declared.examples!.answer as { data: Record<string, unknown>; meta: unknown };
    expect(read(200, JSON.stringify({ data, meta }))).toEqual({ data, meta });
    expect(read(200, JSON.stringify({ data: { ...data, [name]: changed(data[name]) }, meta }))).toBeUndefined();
  });

  it.each([
    [searchJobs, 'jobs', 'returned_jobs'],
    [findSignals, 'companies', 'returned_companies'],
  ] as const)('passes no answer of $0.path with more than its limit', (declared, list, count) => {
    const { data, meta } = declared.examples!.answer as { data: Record<string, unknown>; meta: unknown };
    const two = { ...data, [list]: twice(data[list]), [count]: 2 };
    const read = answerReader(declared);
    expect(read(200, JSON.stringify({ data: { ...two, limit: 2 }, meta }))).toBeDefined();
    expect(read(200, JSON.stringify({ data: { ...two, limit: 1 }, meta }))).toBeUndefined();
  });
});
