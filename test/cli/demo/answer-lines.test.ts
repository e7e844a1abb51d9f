import { describe, expect, it } from 'vitest';
import { ANSWER_LINES_MAX, answerLines } from '../../../src/cli/demo/answer-lines.ts';

describe('the lines of an answer', () => {
  it('show figures with their names, texts bare, and small elements of a list together', () => {
    const body = {
      data: {
        company: { name: 'Acme', domain: 'acme.example' },
        active_job_count: 1234,
        engineering_job_count: null,
        top_hiring_departments: [
          { department: 'Data', observed_job_count: 3 },
          { department: 'Ads', observed_job_count: 1 },
        ],
        jobs: [
          { id: 'a', title: 'Cook', company: 'Acme', company_domain: null, source_url: 'https://x.example/', n: 2 },
        ],
        skills: ['go', 'sql'],
        none: [],
      },
      meta: { product: 'not shown' },
    };
    expect(answerLines(body)).toEqual([
      'company: Acme, acme.example',
      'active job count: 1,234',
      'engineering job count: not known',
      'top hiring departments: Data, observed job count 3; Ads, observed job count 1',
      'jobs:',
      '  a, Cook, Acme, n 2',
      'skills: go, sql',
      'none: none',
    ]);
  });

  it('show the lists and long texts of one object below it', () => {
    const job = {
      ...{ id: 'a', title: 'Cook', source_url: `https://x.example/${'x'.repeat(100)}`, department: null },
      ...{ skills: ['go', 'sql'], description: 'You cook.\n'.repeat(20), description_truncated: false },
    };
    expect(answerLines({ data: { job } })).toEqual([
      'job: a, Cook, description truncated false',
      '  skills: go, sql',
      `  description: ${'You cook. '.repeat(20)}`.slice(0, 99).concat('…'),
    ]);
    const [head] = answerLines({ data: { job: { ...job, skills: [], description: 'Cook.' } } });
    expect(head).toBe('job: a, Cook, Cook., description truncated false');
  });

  it('are ten at most, each of at most 100 characters, whatever the answer holds', () => {
    const jobs = Array.from({ length: 40 }, (_, i) => ({ a: `${i}`, b: 'x'.repeat(300), c: 1, d: 2 }));
    const lines = answerLines({ data: { jobs } });
    expect(lines).toHaveLength(ANSWER_LINES_MAX);
    expect(lines.at(-1)).toBe('… and 32 more lines; --json prints all of it');
    expect(Math.max(...lines.map((line) => line.length))).toBe(100);
  });

  it('show no control character of the server, and an answer of any form', () => {
    expect(answerLines({ data: { title: '\u001b[2Jevil\nline' } })).toEqual(['title: \\u001b[2Jevil line']);
    expect(answerLines({ error: { code: 'NOT_FOUND', message: 'no' } })).toEqual(['error: NOT_FOUND, no']);
    expect(answerLines('text')).toEqual(['answer: text']);
    expect(answerLines(null)).toEqual(['answer: not known']);
  });
});
