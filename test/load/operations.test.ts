/** What a load test expects of each answer, and how much it prepares. */
import { describe, expect, it } from 'vitest';
import { EVENT_COUNT_MAX, WAIT_COUNT_MAX } from '../../src/callback/limits.ts';
import type { Reply } from '../../src/load/connection.ts';
import { dataOperation } from '../../src/load/data-operation.ts';
import { type Mix, parseMix } from '../../src/load/mix.ts';
import type { Operation, Run } from '../../src/load/operation.ts';
import { healthOperation, paidOperation, unpaidOperation, webhookOperation } from '../../src/load/operations.ts';
import type { PaymentSupply } from '../../src/load/payments.ts';
import { callbackCounts, type LoadPlan, paymentCounts } from '../../src/load/plan.ts';
import type { Pool } from '../../src/load/pool.ts';
import { Recorder } from '../../src/load/recorder.ts';
import { Requests } from '../../src/load/requests.ts';
import type { Target } from '../../src/load/target.ts';
import { ManualTime } from '../support/manual-time.ts';

const answered = (status: number, body = '', head = ''): Reply => ({
  kind: 'answer',
  status,
  head: `HTTP/1.1 ${status} OK${head === '' ? '' : `\r\n${head}`}`,
  body: Buffer.from(body),
});
const fault = (status: number, code: string): Reply => answered(status, `{"error":{"code":"${code}","message":"x"}}`);

/** Replies to each request of an operation at once. */
function asked(made: (run: Run) => Operation) {
  const recorder = new Recorder(60_000);
  recorder.begin(0);
  const owed: ((reply: Reply) => void)[] = [];
  const texts: string[] = [];
  const pool = {
    send(text: string, onReply: (reply: Reply) => void) {
      texts.push(text.split(' HTTP')[0]!);
      owed.push(onReply);
    },
  } as unknown as Pool;
  const requests = new Requests({ basePath: '', hostHeader: 'server.example' } as Target);
  const operation = made({ pool, requests, clock: new ManualTime(), recorder });
  /** The ending of the request, and how often each outcome came so far; `!` where it is not expected. */
  const ask = (reply: Reply): string => {
    let ended = '';
    operation.start(0, (ending) => {
      ended = ending;
    });
    owed.shift()!(reply);
    return ended;
  };
  const outcomes = (): string[] =>
    recorder.seen.map((seen) => `${seen.outcome}${seen.isExpected ? '' : '!'} ${seen.latencies.count}`);
  return { operation, ask, outcomes, texts, owed };
}

const STORED = answered(200, `{"received":true,"event_id":"evt_${'0'.repeat(32)}"}`);

describe('the operations of a load test', () => {
  it('expect of /health a 200', () => {
    const { ask, outcomes } = asked(healthOperation);
    expect([answered(200), answered(503), { kind: 'failure', code: 'ECONNRESET' } as const].map(ask)).toEqual([
      'answered',
      'answered',
      'broken',
    ]);
    expect(outcomes()).toEqual(['200 1', '503! 1', 'ECONNRESET! 1']);
  });

  it('expect without a payment a 402 with an offer', () => {
    const { ask, outcomes, texts } = asked((run) => unpaidOperation(run, ['/a', '/b']));
    const body = '{"error":{"code":"PAYMENT_REQUIRED"}}';
    ask(answered(402, body, 'payment-required: x'));
    ask(answered(402, body));
    ask(answered(402, '{"error":{"code":"PAYMENT_INVALID"}}', 'payment-required: x'));
    ask(answered(200));
    expect(outcomes()).toEqual([
      '402 PAYMENT_REQUIRED 1',
      '402 PAYMENT_REQUIRED NO_OFFER! 1',
      '402 PAYMENT_INVALID! 1',
      '200! 1',
    ]);
    expect(texts).toEqual(['GET /a', 'GET /b', 'GET /a', 'GET /b']);
  });

  it('expect with a payment a 200 with its receipt, and take one payment for each request', () => {
    const payments = [1, 2].map((i) => ({ header: `p${i}`, payer: '0xA', network: 'eip155:1', validBeforeSeconds: 0 }));
    const taken: number[] = [];
    const supply = {
      take: (offer: number) => {
        taken.push(offer);
        return payments.shift();
      },
    } as unknown as PaymentSupply;
    const { ask, operation, outcomes } = asked((run) => paidOperation(run, ['/a', '/b'], supply));
    const receipt = (payer: string) =>
      `payment-response: ${btoa(JSON.stringify({ success: true, transaction: `0x${'a'.repeat(64)}`, network: 'eip155:1', payer }))}`;
    expect([operation.readiness(), operation.readiness(), taken]).toEqual(['ready', 'ready', [0]]);
    ask(answered(200, '', receipt('0xa')));
    expect(operation.readiness()).toBe('ready');
    ask(answered(200, '', receipt('0xb')));
    expect([operation.readiness(), taken]).toEqual(['unsigned', [0, 1, 0]]);
    expect(outcomes()).toEqual(['200 1', '200 RECEIPT_OF_ANOTHER! 1']);
  });

  it('expect that a callback stores ten events and refuses the eleventh', () => {
    const { ask, operation, outcomes } = asked((run) => webhookOperation(run, [{ id: 'cb', authorization: '' }]));
    expect(operation.readiness()).toBe('ready');
    ask(answered(200, '{"received":true}'));
    for (let i = 2; i < EVENT_COUNT_MAX; i++) ask(STORED);
    ask(fault(429, 'RATE_LIMIT_EXCEEDED'));
    expect(outcomes()).toEqual(['200 NO_EVENT_ID! 1', '200 8', '429 RATE_LIMIT_EXCEEDED! 1']);
    ask(fault(429, 'RATE_LIMIT_EXCEEDED'));
    ask(fault(410, 'CALLBACK_EVENT_LIMIT_REACHED'));
    ask(fault(500, 'INTERNAL_ERROR'));
    expect(outcomes().slice(3)).toEqual([
      '429 RATE_LIMIT_EXCEEDED 1',
      '410 CALLBACK_EVENT_LIMIT_REACHED 1',
      '500 INTERNAL_ERROR! 1',
    ]);
    for (let i = 0; i < 3; i++) ask(STORED);
    expect(outcomes().slice(6)).toEqual(['200 ELEVENTH_EVENT! 1']);
    expect(asked((run) => webhookOperation(run, [])).operation.readiness()).toBe('used-up');
  });

  it('expect of the Jobs Data API what each kind of answer costs and says of caches, and follow a list', () => {
    const charges = { charged: 0 };
    const data = asked((run) =>
      dataOperation(
        run,
        [
          { kind: 'list', path: '/l?limit=2' },
          { kind: 'public', path: '/p' },
        ],
        'key',
        charges,
      ),
    );
    const page = (charged: number, cursor: string, cache = 'private, no-store') =>
      answered(
        200,
        `{"data":[],"returned_jobs":2,"next_cursor":${cursor}}`,
        `x-credits-charged: ${charged}\r\nx-credits-remaining: 9\r\ncache-control: ${cache}`,
      );
    const open = (head: string) => answered(200, '{}', head);
    data.ask(page(2, '"c1"'));
    data.ask(open('etag: "x"\r\ncache-control: public'));
    data.ask(page(2, '"c2"', 'public'));
    data.ask(open('etag: "x"\r\ncache-control: public\r\nx-credits-charged: 1'));
    data.ask(page(1, '"c3"'));
    data.ask(open('cache-control: public'));
    data.ask(page(2, 'null'));
    data.ask(open('etag: "x"\r\ncache-control: private, no-store'));
    data.ask(answered(200, '{}', 'cache-control: private, no-store'));
    expect(data.texts.filter((text) => text.startsWith('GET /l'))).toEqual([
      'GET /l?limit=2',
      'GET /l?limit=2&cursor=c1',
      ...Array.from({ length: 3 }, () => 'GET /l?limit=2'),
    ]);
    expect(data.outcomes().sort()).toEqual([
      '200 3',
      '200 CACHEABLE! 1',
      '200 CHARGED! 1',
      '200 NOT_CACHEABLE! 2',
      '200 NO_CREDITS! 1',
      '200 WRONG_CHARGE! 1',
    ]);
    expect(charges.charged).toBe(2 + 2 + 1 + 1 + 2);
  });
});

describe('what a load test prepares', () => {
  const plan = (changes: Partial<LoadPlan>, mix = 'webhook=1,paid=1,wait=2'): LoadPlan => {
    const parsed = parseMix(mix) as Mix;
    return { mix: parsed, rate: 100, durationMs: 8000, warmUpMs: 2000, waitCount: 10, ...changes } as LoadPlan;
  };

  it.each<[string, Partial<LoadPlan>, object]>([
    ['as many as the webhooks need, and one more', {}, { webhook: 26, wait: 51, waitsEach: 1 }],
    ['as many as it is told', { callbackCount: 7 }, { webhook: 7, wait: 10, waitsEach: 1 }],
    ['a thousand at most', { rate: 100_000 }, { webhook: 1000, wait: 1000, waitsEach: 1 }],
    ['some in a closed loop', { rate: undefined }, { webhook: 200, wait: 200, waitsEach: 1 }],
    ['more waits on each where there are many', { waitCount: 1000 }, { webhook: 26, wait: 200, waitsEach: 5 }],
    ['never more waits than one bears', { waitCount: 20_000 }, { webhook: 26, wait: 313, waitsEach: WAIT_COUNT_MAX }],
  ])('are callbacks: %s', (_, changes, expected) => {
    expect(callbackCounts(plan(changes))).toEqual(expected);
  });

  it('are callbacks for the kinds of the mix alone', () => {
    expect(callbackCounts(plan({}, 'paid=1'))).toMatchObject({ webhook: 0, wait: 0 });
  });

  it.each<[string, Partial<LoadPlan>, object]>([
    ['for the warm-up too, and one more', {}, { plannedCount: 251, stockCount: 251 }],
    ['64 at least', { rate: 1 }, { plannedCount: 4, stockCount: 64 }],
    ['10,000 at most before the run', { rate: 100_000 }, { plannedCount: 250_001, stockCount: 10_000 }],
    ['as many before it as it is told', { signedCount: 3 }, { plannedCount: 251, stockCount: 3 }],
    ['without end in a closed loop', { rate: undefined }, { plannedCount: Number.POSITIVE_INFINITY, stockCount: 1001 }],
  ])('are payments: %s', (_, changes, expected) => {
    expect(paymentCounts(plan(changes))).toEqual(expected);
  });
});
