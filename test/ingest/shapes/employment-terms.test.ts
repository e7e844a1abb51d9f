import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { employmentTypeOf, workplaceOf } from '../../../src/ingest/shapes/employment-terms.ts';

describe('employment in words', () => {
  it.each([
    // as real files have it
    ['Full-time', 'full_time'],
    ['FullTime', 'full_time'],
    ['FULL_TIME', 'full_time'],
    ['fulltime_permanent', 'full_time'],
    ['Full-time: Remote', 'full_time'],
    ['Full-time Onsite or Remote', 'full_time'],
    ['Perm - Full-time', 'full_time'],
    ['Regular Full Time 80', 'full_time'],
    ['Full Time | Non-Exempt', 'full_time'],
    ['Experienced, Permanent, Full time', 'full_time'],
    ["['Full-time permanent', 'mid']", 'full_time'],
    ['Part Time | Non-Exempt', 'part_time'],
    ['Contractor', 'contract'],
    ['CONTRACTOR', 'contract'],
    ['Freelancer (Hourly Rate)', 'contract'],
    ['Fixed Time Contractor (FTC) (UK Only)', 'unknown'],
    ['fulltime, contract', 'contract'],
    ['Fixed Term Contract', 'temporary'],
    ['fulltime_fixed_term', 'temporary'],
    ['Temporary FT', 'temporary'],
    ['Summer Internship (December-February)', 'internship'],
    ['Jump Trading - Intern', 'internship'],
    ['full-time internship', 'internship'],
    ['parttime, fulltime', 'unknown'],
    ['fulltime, contract, internship', 'unknown'],
    ['Unlimited Contract', 'unknown'],
    ['Permanent', 'unknown'],
    ['Regular', 'unknown'],
    ['Binance Accelerator Program', 'unknown'],
    ['Scholarship', 'unknown'],
    ['berufserfahren', 'unknown'],
    ['VOLUNTEER', 'unknown'],
    ['Internal', 'unknown'],
    // other languages
    ['Vollzeit', 'full_time'],
    ['Teilzeit', 'part_time'],
    ['Vollzeit, befristet', 'temporary'],
    ['Unbefristete Festanstellung, Vollzeit', 'full_time'],
    ['Praktikum', 'internship'],
    ['Temps plein', 'full_time'],
    ['CDI', 'unknown'],
    ['CDD', 'temporary'],
    ['Contrat à durée indéterminée', 'unknown'],
    ['Stage', 'internship'],
    ['Alternance', 'unknown'],
    ['Jornada completa', 'full_time'],
    ['Tiempo parcial', 'part_time'],
    ['Tempo indeterminato', 'unknown'],
    ['Tirocinio', 'internship'],
    ['Estágio', 'internship'],
    ['Pełny etat', 'full_time'],
    ['Voltijds', 'full_time'],
    ['全职', 'full_time'],
    ['インターンシップ', 'internship'],
    ['Toàn thời gian', 'full_time'],
    ['', 'unknown'],
  ])('%j is %s', (text, expected) => {
    expect(employmentTypeOf(text)).toBe(expected);
  });

  it('takes several words as one field', () => {
    expect(employmentTypeOf('FULL_TIME', 'CONTRACTOR')).toBe('contract');
    expect(employmentTypeOf('FULL_TIME', 'PART_TIME')).toBe('unknown');
    expect(employmentTypeOf(null, undefined, 'INTERN')).toBe('internship');
    expect(employmentTypeOf()).toBe('unknown');
  });

  it('says the same of a word however often it is asked', () => {
    for (let i = 0; i < 10_001; i++) employmentTypeOf(`word ${i}`);
    expect(employmentTypeOf('Full-time')).toBe('full_time');
    expect(employmentTypeOf('Full-time')).toBe('full_time');
  });
});

describe('the workplace in words', () => {
  it.each([
    ['remote', 'remote'],
    ['Fully Remote', 'remote'],
    ['REMOTE', 'remote'],
    ['Hybrid (Travel-Required)', 'hybrid'],
    ['onsite', 'on_site'],
    ['on-site', 'on_site'],
    ['On-Location', 'on_site'],
    ['In Office', 'on_site'],
    ['unspecified', 'unknown'],
    ['Remote or hybrid', 'unknown'],
    ['San Francisco', 'unknown'],
    ['', 'unknown'],
    [null, 'unknown'],
  ])('%j is %s', (text, expected) => {
    expect(workplaceOf(text)).toBe(expected);
  });
});

it('a text that is too long to be a term is not kept', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heapBytes = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const beforeBytes = heapBytes();
  for (let i = 0; i < 100; i++) expect(employmentTypeOf(`${i} full-time ${'x'.repeat(500_000)}`)).toBe('unknown');
  expect(heapBytes() - beforeBytes).toBeLessThan(10_000_000);
});
