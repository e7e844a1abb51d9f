/** The comparison itself: an answer that is the model's passes, and one that differs anywhere is found. */
import { describe, expect, it } from 'vitest';
import { DataJudge } from '../../support/data-judge.ts';
import { minimalJob } from '../../support/minimal-job.ts';
import { type DataQuestion, NaiveDataApi, nativeEvents } from '../../support/naive-data-api.ts';

const NOW_MS = Date.UTC(2026, 6, 15, 12);
const CREDITS = 100;
const JOBS = ['a', 'b', 'c'].map((id) => minimalJob({ id }));
const MODEL = new NaiveDataApi(JOBS, nativeEvents(JOBS));
const FEED: DataQuestion = { route: '/v1/history', query: {} };
const CURSOR = 'abc_-9';

/** An answer as text, for alterations. */
interface Told {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** What the model says of the feed's first page of two, as a server tells it. @param remaining credits after it */
function told(remaining = CREDITS - 2): Told {
  const answer = MODEL.answer(FEED, NOW_MS, 2);
  if (answer.status !== 200) throw new Error(answer.code);
  const { charged, data, meta } = answer;
  const credits = { charged, remaining };
  const body = {
    data: { ...data, next_cursor: CURSOR },
    meta: { ...meta, request_id: 'r', limitations: ['said'], credits },
  };
  const headers = {
    'cache-control': 'private, no-store',
    'x-credits-charged': String(charged),
    'x-credits-remaining': String(remaining),
  };
  return { status: 200, headers, body: JSON.stringify(body).replaceAll('first_observed a', 'ev_1') };
}

async function judged(alter: (answer: Told) => void): Promise<readonly string[]> {
  const answer = told();
  alter(answer);
  const app = { fetch: () => new Response(answer.body, { status: answer.status, headers: answer.headers }) };
  const judge = new DataJudge(app, 'http://x.test/data', 'key', CREDITS);
  await judge.ask(MODEL, FEED, NOW_MS, { limit: 2 });
  expect(judge.comparisons).toBe(1);
  return judge.takeFailures().first;
}

describe('the judge of the Jobs Data API', () => {
  it('passes the answer of the model, whatever its events are called', async () => {
    expect(await judged(() => {})).toEqual([]);
  });

  const replacing =
    (from: string, to: string) =>
    (answer: Told): void => {
      expect(answer.body).toContain(from);
      answer.body = answer.body.replace(from, to);
    };
  const cases: readonly (readonly [because: string, alter: (answer: Told) => void, fault: RegExp])[] = [
    ['another status', (answer) => Object.assign(answer, { status: 503 }), /expected 200, got 503/],
    ['another field', replacing('"title":"Engineer"', '"title":"Nurse"'), /data\.events\.0\.title/],
    ['one member more', replacing('"limit":2', '"limit":2,"x":1'), /data\.x: expected nothing, got 1/],
    ['one id for two events', replacing('first_observed b', 'ev_1'), /data\.events\.1\.id/],
    ['another number', replacing('"returned_events":2', '"returned_events":3'), /returned_events/],
    ['no cursor where the list goes on', replacing(`"${CURSOR}"`, 'null'), /expected a next_cursor/],
    ['a cursor that is not URL-safe', replacing(CURSOR, 'a+b='), /not URL-safe/],
    ['another time of the answer', replacing('"generated_at":"2026', '"generated_at":"2025'), /meta\.generated_at/],
    ['another freshness', replacing('"last_observed_at":"1970', '"last_observed_at":"1971'), /meta\.freshness/],
    ['other credits in meta', replacing('"remaining":98', '"remaining":99'), /meta\.credits\.remaining/],
    ['other credits in a header', (answer) => Object.assign(answer.headers, { 'x-credits-charged': '1' }), /charged/],
    ['no limitations', replacing(',"limitations":["said"]', ''), /limitations/],
  ];
  for (const [because, alter, fault] of cases) {
    it(`finds ${because}`, async () => {
      const failures = await judged(alter);
      expect(failures).toHaveLength(1);
      expect(failures[0]).toMatch(fault);
    });
  }

  it('keeps the id of an event over answers', async () => {
    const answers = [told(), told(CREDITS - 4), told(CREDITS - 6)];
    answers[2]!.body = answers[2]!.body.replace('ev_1', 'ev_2');
    const app = {
      fetch: () => {
        const { body, headers } = answers.shift()!;
        return new Response(body, { headers });
      },
    };
    const judge = new DataJudge(app, 'http://x.test/data', 'key', CREDITS);
    for (let i = 0; i < 2; i++) await judge.ask(MODEL, FEED, NOW_MS, { limit: 2 });
    expect(judge.takeFailures().first).toEqual([]);
    await judge.ask(MODEL, FEED, NOW_MS, { limit: 2 });
    expect(judge.takeFailures().first[0]).toContain('unexpected id ev_2');
  });
});
