import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import type { ServedCatalogue } from '../../src/catalogue/holder.ts';
import type { Job } from '../../src/catalogue/job.ts';
import { JsonText } from '../../src/http/answers.ts';
import { MemoizedAnswers } from '../../src/http/hot/memoized-answers.ts';
import { periodEndingAt } from '../../src/modules/answer-period.ts';
import { AnswersMemo } from '../../src/modules/jobs/services.ts';
import { findSignals } from '../../src/modules/jobs/signals.ts';
import { openedJobs } from '../support/opened-jobs.ts';
import { partOf } from '../support/whole.ts';

const NOW_MS = Date.UTC(2026, 10, 22, 12);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const jsonOf = (answer: unknown): string => (answer instanceof JsonText ? answer.text : JSON.stringify(answer));

/** A job every six hours of the last ten days, and of the next two, of three companies. */
const JOBS = Array.from({ length: 48 }, (_, i): Job => {
  const lastObservedMs = NOW_MS - 10 * DAY_MS + i * 6 * HOUR_MS;
  return {
    id: `job-${i}`,
    title: i % 2 === 0 ? 'Data Engineer' : 'Engineer \u0000start',
    company: `Company ${i % 3}`,
    companyDomain: null,
    location: 'Berlin',
    department: null,
    remoteStatus: 'unknown',
    employmentType: 'unknown',
    sourceUrl: `https://example.com/${i}`,
    skills: [],
    firstObservedMs: lastObservedMs - (i % 5) * DAY_MS,
    lastObservedMs,
    status: 'active',
    closedAtMs: null,
    description: null,
    descriptionTruncated: false,
  };
});
/** A catalogue and the memo of a module that serves it. */
interface Served extends ServedCatalogue {
  readonly memo: AnswersMemo;
}

/** The file of it is read once: what is remembered of answers is in the catalogue and the memo. */
const SNAPSHOT = openedJobs(JOBS);

const opened = (): Served => ({
  catalogue: new Catalogue(SNAPSHOT),
  isSynthetic: true,
  memo: new AnswersMemo(),
});

interface Question {
  readonly role?: string;
  readonly location?: string;
  readonly limit: number;
}

const QUESTIONS: readonly Question[] = [
  { limit: 5 },
  { role: 'engineer', limit: 5 },
  { role: 'engineer', limit: 2 },
  { role: 'data', limit: 5 },
  { location: 'data', limit: 5 },
  { role: '\u0000start', limit: 5 },
  { role: '\u0000end', limit: 5 },
];

function ask(served: Served, question: Question, nowMs: number): unknown {
  const services = { catalogue: { current: () => served }, clock: { nowMs: () => nowMs }, memo: served.memo };
  return (findSignals.handle as unknown as (input: object, given: object) => unknown)(question, services);
}

describe('repeated signals questions', () => {
  it('get the same answers as without memoization, at any time', () => {
    const fresh = (question: Question, nowMs: number): string => jsonOf(ask(opened(), question, nowMs));
    const step = fc.record({
      question: fc.constantFrom(...QUESTIONS),
      passMs: fc.oneof(
        fc.nat(1000),
        fc.nat(4 * DAY_MS),
        fc.constant(6 * HOUR_MS),
        fc.integer({ min: -DAY_MS, max: 0 }),
      ),
      times: fc.integer({ min: 1, max: 4 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
        const served = opened();
        let nowMs = NOW_MS;
        for (const { question, passMs, times } of steps) {
          for (let i = 0; i < times; i++) {
            nowMs += i === 0 ? passMs : 1;
            expect(jsonOf(ask(served, question, nowMs))).toBe(fresh(question, nowMs));
          }
        }
      }),
      { numRuns: partOf(60) },
    );
  });

  it('get texts from the third time on, and objects again when an observation has left the period', () => {
    const served = opened();
    const isText = (nowMs: number): boolean => ask(served, { limit: 5 }, nowMs) instanceof JsonText;
    expect([0, 1, 2, 3].map((ms) => isText(NOW_MS + HOUR_MS + ms))).toEqual([false, false, true, true]);
    expect([0, 1, 2].map((ms) => isText(NOW_MS + 7 * HOUR_MS + ms))).toEqual([false, false, true]);
  });

  it('get the right answer where it contains a placeholder', () => {
    const memo = new MemoizedAnswers<ReturnType<typeof periodEndingAt>>();
    const answer = (nowMs: number) => {
      const period = periodEndingAt(nowMs);
      const write = (one: typeof period) => ({ said: '\u0000start and \u0000end', period: one });
      expect(jsonOf(memo.answer('question', period, () => write))).toBe(JSON.stringify(write(period)));
    };
    for (let ms = 0; ms < 5; ms++) answer(NOW_MS + ms);
  });
});
