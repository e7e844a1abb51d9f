/** The order of one request: decode, admit, answer, settle; what is held is settled or released, exactly once. */
import { setImmediate } from 'node:timers/promises';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { type Access, type Admission, type Admitter, anyOf, type WayIn } from '../../src/http/access.ts';
import { AfterSettlement, Answer, type Outcome, outcomeOf, Reply } from '../../src/http/answers.ts';
import { defineErrors, NOT_FOUND, Refusal, refuse } from '../../src/http/errors.ts';
import { executorOf } from '../../src/http/execute.ts';
import { DeferredAnswer } from '../../src/http/hot/deferred-answer.ts';
import { bind } from '../../src/http/operation.ts';
import type { RequestView } from '../../src/http/request-view.ts';
import { Responder } from '../../src/http/respond.ts';
import { fetchResponses } from '../../src/http/response-form.ts';
import { type Route, route } from '../../src/http/route.ts';
import { garbageCollector } from '../support/garbage-collector.ts';

const unreported = (failure: unknown): never => {
  throw failure;
};

const { PAYMENT_REQUIRED, PAYMENT_NOT_SETTLED } = defineErrors({
  PAYMENT_REQUIRED: { status: 402 },
  PAYMENT_NOT_SETTLED: { status: 402 },
});

type Handler = (input: object, request: RequestView, principal: object) => unknown;
type MakeAdmitter = (trail: string[]) => Admitter;

const wayIn = (
  open: () => Admitter,
  more: Partial<Omit<Access, 'open' | 'boundTo'>> = {},
): Access<object, undefined> => ({
  errors: [],
  documentation: {},
  open,
  ...more,
});

interface Options {
  readonly handle: Handler;
  readonly admitters?: readonly MakeAdmitter[];
  readonly access?: (trail: string[]) => readonly WayIn<object, undefined>[];
  readonly readBody?: Route['readBody'];
}

const REQUEST: RequestView = {
  requestId: 'req_1',
  method: 'GET',
  path: '/ask',
  search: '',
  params: {},
  body: new Request('http://h/ask'),
  header: () => null,
  clientAddress: () => '',
  clientNetwork: () => '',
  isDisconnected: () => false,
  onDisconnect: () => {},
};

function setUp({ handle, admitters = [], access, readBody }: Options) {
  const trail: string[] = [];
  const declared = route<undefined>()({
    operation: 'ask',
    method: 'GET',
    path: '/ask',
    summary: 'ask',
    access: access?.(trail) ?? admitters.map((makeAdmitter) => wayIn(() => makeAdmitter(trail))),
    query: v.strictObject({ limit: v.optional(v.number(), 1) }),
    answer: v.any(),
    errors: [NOT_FOUND],
    ...(readBody === undefined ? {} : { readBody: readBody as never }),
    handle: (input, _, request, principal) => {
      trail.push('answer');
      return handle(input, request, principal) as never;
    },
  });
  const [operation] = bind('asks', [declared], undefined);
  const mounted = operation!.mount({ labels: {}, baseUrl: 'http://h' });
  const reported: unknown[] = [];
  const execute = executorOf(mounted, (failure) => reported.push(failure));
  const responder = new Responder({ 'x-everywhere': 'yes' }, fetchResponses(false), { report: unreported });
  const respond = (outcome: Outcome): Response => {
    if (outcome instanceof DeferredAnswer) throw new Error('the answer is deferred');
    return responder.respond(mounted, outcome, { requestId: 'req_1', cut: () => false });
  };
  const outcome = (search = '', header: Record<string, string> = {}) =>
    execute({ ...REQUEST, search, header: (name) => header[name] ?? null });
  const ask = (search = '', header?: Record<string, string>): Response | Promise<Response> => {
    const given = outcome(search, header);
    return given instanceof Promise ? given.then(respond) : respond(given);
  };
  return { trail, reported, outcome, ask };
}

const admissionNamed = (name: string, trail: string[], settled: Record<string, string> | Refusal): Admission => ({
  async settle() {
    trail.push(`settle ${name}`);
    return settled;
  },
  release() {
    trail.push(`release ${name}`);
  },
});

const admitter =
  (name: string, settled: Record<string, string> | Refusal = {}, how: 'now' | 'later' = 'now'): MakeAdmitter =>
  (trail) => ({
    admit() {
      trail.push(`admit ${name}`);
      const admission = admissionNamed(name, trail, settled);
      return how === 'now' ? admission : Promise.resolve(admission);
    },
  });

/** Holds something for the answer and has nothing to settle. */
const holding =
  (name: string): MakeAdmitter =>
  (trail) => ({
    admit() {
      trail.push(`admit ${name}`);
      return { release: () => void trail.push(`release ${name}`) };
    },
  });

const closed =
  (how: 'now' | 'later' = 'now'): MakeAdmitter =>
  (trail) => ({
    admit() {
      trail.push('refuse');
      const refusal = refuse(PAYMENT_REQUIRED, 'pay', {
        members: [',"x402Version":2'],
        headers: { 'payment-required': 'abc' },
      });
      return how === 'now' ? refusal : Promise.resolve(refusal);
    },
  });

const knowing =
  (principal: object): MakeAdmitter =>
  (trail) => ({
    admit(_, known) {
      trail.push(`knows ${Object.keys(known).join()}`);
      return { principal };
    },
  });

const unsettled = refuse(PAYMENT_NOT_SETTLED, 'no');

describe('a request through its operation', () => {
  it('answers an open operation at once, without a promise', async () => {
    const { ask, outcome } = setUp({ handle: () => ({ a: 1 }) });
    expect(outcome()).toBeInstanceOf(Answer);
    const response = ask();
    expect(response).toBeInstanceOf(Response);
    expect(await (response as Response).json()).toEqual({ a: 1 });
    expect((response as Response).headers.get('x-everywhere')).toBe('yes');
    expect((response as Response).headers.get('x-request-id')).toBe('req_1');
  });

  it('refuses bad input before any admitter', async () => {
    const { outcome, trail } = setUp({ handle: () => 1, admitters: [admitter('paid')] });
    expect(await outcome('?no=1')).toMatchObject({ code: 'UNKNOWN_PARAMETER', status: 400 });
    expect(trail).toEqual([]);
  });

  it('refuses at the admitter at once, with the members and headers that the admitter adds', async () => {
    const { ask, trail } = setUp({ handle: () => 1, admitters: [closed()] });
    const response = ask();
    expect(response).toBeInstanceOf(Response);
    expect((response as Response).status).toBe(402);
    expect((response as Response).headers.get('payment-required')).toBe('abc');
    expect((response as Response).headers.get('cache-control')).toBe('no-store');
    expect(await (response as Response).json()).toEqual({
      error: { code: 'PAYMENT_REQUIRED', message: 'pay', request_id: 'req_1' },
      x402Version: 2,
    });
    expect(trail).toEqual(['refuse']);
  });

  it.each(['now', 'later'] as const)('admits in order and settles in reverse, after the answer (%s)', async (how) => {
    const { ask, trail } = setUp({
      handle: () => ({}),
      admitters: [admitter('capacity', {}, how), admitter('paid', { 'x-paid': '1' }, how)],
    });
    const response = await ask();
    expect(response.status).toBe(200);
    expect(response.headers.get('x-paid')).toBe('1');
    expect(trail).toEqual(['admit capacity', 'admit paid', 'answer', 'settle paid', 'settle capacity']);
  });

  it.each(['now', 'later'] as const)(
    'releases what an earlier admitter holds when a later one refuses (%s)',
    async (how) => {
      const { ask, trail } = setUp({ handle: () => 1, admitters: [admitter('capacity', {}, how), closed(how)] });
      expect((await ask()).status).toBe(402);
      expect(trail).toEqual(['admit capacity', 'refuse', 'release capacity']);
    },
  );

  it('releases everything when the question is refused', async () => {
    const { ask, trail } = setUp({
      handle: () => refuse(NOT_FOUND, 'no'),
      admitters: [admitter('capacity'), admitter('paid')],
    });
    expect((await ask()).status).toBe(404);
    expect(trail).toEqual(['admit capacity', 'admit paid', 'answer', 'release capacity', 'release paid']);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('bug');
      },
    ],
    ['rejects', () => Promise.reject(new Error('bug'))],
  ])('releases everything when the handler %s', async (_, handle) => {
    const { ask, trail } = setUp({ handle: handle as Handler, admitters: [admitter('paid')] });
    await expect((async () => ask())()).rejects.toThrow('bug');
    expect(trail).toEqual(['admit paid', 'answer', 'release paid']);
  });

  it('sends no answer when settlement refuses, and releases the rest', async () => {
    const { ask, trail } = setUp({
      handle: () => ({ secret: 1 }),
      admitters: [admitter('capacity'), admitter('paid', unsettled)],
    });
    const response = await ask();
    expect(response.status).toBe(402);
    expect(await response.text()).not.toContain('secret');
    expect(trail).toEqual(['admit capacity', 'admit paid', 'answer', 'settle paid', 'release capacity']);
  });

  it('releases what a later admitter only holds when settlement refuses (reliability 127)', async () => {
    const { ask, trail } = setUp({ handle: () => ({}), admitters: [admitter('paid', unsettled), holding('capacity')] });
    expect((await ask()).status).toBe(402);
    expect(trail).toEqual(['admit paid', 'admit capacity', 'answer', 'settle paid', 'release capacity']);
  });

  it('leaves to the answer what a later admitter only holds once all has settled', async () => {
    const { ask, trail } = setUp({ handle: () => ({}), admitters: [admitter('paid'), holding('capacity')] });
    expect((await ask()).status).toBe(200);
    expect(trail).toEqual(['admit paid', 'admit capacity', 'answer', 'settle paid']);
  });

  it('releases the admissions of earlier admitters when a settlement throws', async () => {
    const throwing: MakeAdmitter = () => ({ admit: () => ({ settle: () => Promise.reject(new Error('bug')) }) });
    const { ask, trail } = setUp({ handle: () => ({}), admitters: [admitter('capacity'), throwing] });
    await expect((async () => ask())()).rejects.toThrow('bug');
    expect(trail).toEqual(['admit capacity', 'answer', 'release capacity']);
  });

  const RECEIPT = { 'payment-response': 'abc' };
  const settling =
    (settle: Admission['settle']): MakeAdmitter =>
    () => ({ admit: () => ({ settle: settle as never }) });

  it('keeps the receipt when an earlier admitter refuses after the payment has settled', async () => {
    const refusing = settling(() => refuse(NOT_FOUND, 'gone', { headers: { 'retry-after': '1' } }));
    const { ask } = setUp({ handle: () => ({}), admitters: [refusing, admitter('paid', RECEIPT)] });
    const response = await ask();
    expect([response.status, response.headers.get('payment-response')]).toEqual([404, 'abc']);
    expect(response.headers.get('retry-after')).toBe('1');
  });

  it('keeps the receipt and releases the rest when an earlier admitter throws after the payment has settled', async () => {
    const failing = settling(() => Promise.reject(new Error('disk')));
    const { ask, trail } = setUp({
      handle: () => ({}),
      admitters: [admitter('capacity'), failing, admitter('paid', RECEIPT)],
    });
    const response = await ask();
    expect([response.status, response.headers.get('payment-response')]).toEqual([500, 'abc']);
    expect(await response.text()).not.toContain('disk');
    expect(trail).toEqual(['admit capacity', 'admit paid', 'answer', 'settle paid', 'release capacity']);
  });

  const releasing =
    (release: NonNullable<Admission['release']>): MakeAdmitter =>
    () => ({ admit: () => ({ release }) });

  it('lets the refusal leave after an asynchronous release', async () => {
    let release = (): void => {};
    const slow = releasing(() => new Promise((resolve) => (release = resolve)));
    const { outcome } = setUp({ handle: () => refuse(NOT_FOUND, 'no'), admitters: [slow] });
    let ended: unknown;
    const outcomeEnded = Promise.resolve(outcome()).then((one) => (ended = one));
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(ended).toBeUndefined();
    release();
    await outcomeEnded;
    expect(ended).toMatchObject({ code: 'NOT_FOUND' });
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('disk');
      },
    ],
    ['rejects', () => Promise.reject(new Error('disk'))],
  ])('releases the rest and keeps the outcome when a release %s', async (_, release) => {
    const admitters = [releasing(release), admitter('paid')];
    const refused = setUp({ handle: () => refuse(NOT_FOUND, 'no'), admitters });
    expect((await refused.ask()).status).toBe(404);
    expect(refused.trail.at(-1)).toBe('release paid');
    expect(refused.reported).toEqual([new Error('disk')]);
    const failed = setUp({ handle: () => Promise.reject(new Error('bug')), admitters });
    await expect((async () => failed.ask())()).rejects.toThrow('bug');
    expect(failed.trail.at(-1)).toBe('release paid');
    expect(failed.reported).toEqual([new Error('disk')]);
  });

  it('passes what will leave, or what will create it, to each settlement', async () => {
    const seen: unknown[] = [];
    const charging: MakeAdmitter = () => ({ admit: () => ({ settle: (answer) => void seen.push(answer) }) });
    const later = new AfterSettlement(null, () => 1);
    for (const answer of [{ rows: [1, 2] }, later]) await setUp({ handle: () => answer, admitters: [charging] }).ask();
    expect(seen).toEqual(['{"rows":[1,2]}', later]);
  });

  class Later extends DeferredAnswer {
    override give(answer: unknown): void {
      super.give(answer);
    }
  }
  const free: MakeAdmitter = () => ({ admit: () => undefined });

  it.each([
    ['an object', { a: 1 }, 200, '{"a":1}'],
    ['a reply', new Reply('text', { 'content-type': 'text/plain' }), 200, 'text'],
    ['a refusal', refuse(NOT_FOUND, 'no'), 404, '{"error":{"code":"NOT_FOUND","message":"no","request_id":"req_2"}}'],
  ])('hands a deferred answer to its recipient when it is given: %s', async (_, answer, status, text) => {
    const deferred = new Later();
    const { outcome } = setUp({ handle: () => deferred, admitters: [free] });
    expect(outcome()).toBe(deferred);
    const given: unknown[] = [];
    deferred.deliverTo({ answered: (one) => given.push(one) });
    await Promise.resolve();
    expect(given).toEqual([]);
    deferred.give(answer);
    expect(given).toEqual([answer]);
    const terms = { status: 200, cacheControl: 'no-store' };
    const response = new Responder({}, fetchResponses(false), { report: unreported }).respond(
      terms,
      outcomeOf(given[0]),
      {
        requestId: 'req_2',
        cut: () => false,
      },
    );
    expect(response.status).toBe(status);
    expect(response.headers.get('x-request-id')).toBe('req_2');
    expect(await response.text()).toBe(text);
  });

  it('defers an answer behind an asynchronous admitter, even when it comes before its recipient is known', async () => {
    const deferred = new Later();
    const slow: MakeAdmitter = () => ({ admit: () => Promise.resolve(undefined) });
    const { outcome } = setUp({ handle: () => deferred, admitters: [slow] });
    expect(await outcome()).toBe(deferred);
    deferred.give('early');
    const given: unknown[] = [];
    deferred.deliverTo({ answered: (answer) => given.push(answer) });
    expect(given).toEqual(['early']);
  });

  it('defers no answer of a request with admissions to settle', () => {
    const { outcome, trail } = setUp({ handle: () => new Later(), admitters: [admitter('paid')] });
    expect(() => outcome()).toThrow('defers an answer although it has admissions to settle');
    expect(trail).toEqual(['admit paid', 'answer', 'release paid']);
  });

  it('creates an after-settlement answer only once every admission has settled', async () => {
    let made = 0;
    const after = () => new AfterSettlement(null, () => ({ made: ++made }));
    const paid = setUp({ handle: after, admitters: [admitter('paid')] });
    expect(await (await paid.ask()).json()).toEqual({ made: 1 });
    const unpaid = setUp({ handle: after, admitters: [admitter('paid', unsettled)] });
    expect((await unpaid.ask()).status).toBe(402);
    expect(made).toBe(1);
  });

  it('releases earlier admissions when a later admitter throws, and all of them when the answer cannot be written', () => {
    const throwing: MakeAdmitter = () => ({
      admit() {
        throw new Error('bug');
      },
    });
    const first = setUp({ handle: () => 1, admitters: [admitter('capacity'), throwing] });
    expect(() => first.ask()).toThrow('bug');
    expect(first.trail).toEqual(['admit capacity', 'release capacity']);
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const second = setUp({ handle: () => circle, admitters: [admitter('paid')] });
    expect(() => second.ask()).toThrow(/circular|cyclic/i);
    expect(second.trail).toEqual(['admit paid', 'answer', 'release paid']);
  });

  it('sends the receipt even when the paid answer cannot be created', async () => {
    const failing = () =>
      new AfterSettlement(null, () => {
        throw new Error('disk');
      });
    const { ask, outcome } = setUp({ handle: failing, admitters: [admitter('paid', { 'payment-response': 'abc' })] });
    const response = await ask();
    expect(response.status).toBe(500);
    expect(response.headers.get('payment-response')).toBe('abc');
    expect(await response.text()).not.toContain('disk');
    expect(await outcome()).toMatchObject({
      code: 'INTERNAL_ERROR',
      extras: { detail: expect.stringContaining('disk') },
    });
  });

  it('shows a created body to every admission before it leaves, and tells each of the delivery', async () => {
    const watching =
      (name: string): MakeAdmitter =>
      (trail) => ({
        admit: () => ({
          async created(body) {
            await Promise.resolve();
            trail.push(`${name} sees ${body}`);
            throw new Error(`${name} failed`);
          },
          delivered: () => void trail.push(`${name} delivered`),
          settle: () => undefined,
        }),
      });
    const handle = (): unknown => new AfterSettlement(null, () => 1);
    const { outcome, trail, reported } = setUp({ handle, admitters: [watching('first'), watching('second')] });
    const answer = (await outcome()) as Answer;
    trail.push('leaves');
    answer.delivered?.();
    const seen = ['first sees 1', 'second sees 1'];
    expect(trail).toEqual(['answer', ...seen, 'leaves', 'first delivered', 'second delivered']);
    expect(reported).toEqual([new Error('first failed'), new Error('second failed')]);
  });

  it('shows a created body to an admission that does nothing else', async () => {
    const watching: MakeAdmitter = (trail) => ({
      admit: () => ({ created: (body) => void trail.push(`sees ${body}`) }),
    });
    const { outcome, trail } = setUp({ handle: () => new AfterSettlement(null, () => 1), admitters: [watching] });
    await outcome();
    expect(trail).toEqual(['answer', 'sees 1']);
  });

  it('sends a ready reply as it is, with its status', async () => {
    const { ask } = setUp({ handle: () => new Reply('raw', { 'content-type': 'text/plain' }, 503) });
    const response = await ask();
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      503,
      'text/plain',
      'raw',
    ]);
  });
});

describe('the principal', () => {
  it('reaches later admitters and the handler as one principal', async () => {
    const { ask, trail } = setUp({
      handle: (_, __, principal) => principal,
      admitters: [knowing({ account: 'acme' }), knowing({ payer: '0x1' })],
    });
    expect(await (await ask()).json()).toEqual({ account: 'acme', payer: '0x1' });
    expect(trail).toEqual(['knows ', 'knows account', 'answer']);
  });

  it('is known before the input is decoded, where the way in declares it', async () => {
    const access = (trail: string[]) => [
      wayIn(() => admitter('rate')(trail)),
      wayIn(() => admitter('key')(trail), { isBeforeInput: true }),
    ];
    const bad = setUp({ handle: () => 1, access });
    expect(await bad.outcome('?no=1')).toMatchObject({ status: 400 });
    expect(bad.trail).toEqual(['admit key', 'release key']);
    const good = setUp({ handle: () => 1, access });
    await good.outcome();
    expect(good.trail).toEqual(['admit key', 'admit rate', 'answer', 'settle rate', 'settle key']);
  });

  it('comes with a private answer where the way in declares it', async () => {
    const { ask } = setUp({ handle: () => 1, access: () => [wayIn(() => free(), { isPrivate: true })] });
    expect((await ask()).headers.get('cache-control')).toBe('private, no-store');
  });
  const free = (): Admitter => ({ admit: () => undefined });
});

describe('alternatives', () => {
  const presented = (header: string) => (request: RequestView) => request.header(header) !== null;
  const access = (trail: string[]) => [
    anyOf(
      wayIn(() => admitter('key')(trail), { isBeforeInput: true, isPresented: presented('authorization') }),
      wayIn(() => admitter('paid')(trail), { isPresented: presented('payment-signature') }),
    ),
  ];

  it.each([
    ['the first whose credential is sent', { authorization: 'x', 'payment-signature': 'y' }, 'key'],
    ['the other with its credential', { 'payment-signature': 'y' }, 'paid'],
    ['the last without any', {}, 'paid'],
  ])('take %s', async (_, headers, taken) => {
    const { ask, trail } = setUp({ handle: () => 1, access });
    await ask('', headers as Record<string, string>);
    expect(trail).toEqual([`admit ${taken}`, 'answer', `settle ${taken}`]);
  });

  it('are refused where a request could not choose', () => {
    const silent = wayIn(() => ({ admit: () => undefined }));
    expect(() => anyOf(silent)).toThrow('anyOf needs two ways in');
    expect(() => anyOf(silent, silent)).toThrow('anyOf needs isPresented of every way in but the last');
  });
});

describe('a body that is input', () => {
  it('is read after the query and before any admitter, and reaches the handler', async () => {
    const { ask, trail } = setUp({
      handle: (input) => input,
      admitters: [admitter('paid')],
      readBody: async () => ({ body: { url: 'https://example.com' } }),
    });
    expect(await (await ask('?limit=2')).json()).toEqual({ limit: 2, body: { url: 'https://example.com' } });
    expect(trail).toEqual(['admit paid', 'answer', 'settle paid']);
  });

  it('is known to the admitters after it, and its bytes are not held while the handler works', async () => {
    const told: unknown[] = [];
    let bytes: WeakRef<Uint8Array> | undefined;
    const telling = (): Admitter => ({
      admit: (_, __, read) => void told.push(read.bytes?.length, read.answerSeconds),
    });
    const { ask } = setUp({
      access: () => [wayIn(telling), wayIn(telling, { isBeforeInput: true })],
      readBody: async () => {
        const read = { body: 1, bytes: new Uint8Array(9), answerSeconds: 5 };
        bytes = new WeakRef(read.bytes);
        return read;
      },
      handle: async () => {
        await setImmediate();
        garbageCollector()();
        return bytes?.deref()?.length ?? 'gone';
      },
    });
    expect(await (await ask()).json()).toBe('gone');
    expect(told).toEqual([undefined, undefined, 9, 5]);
  });

  it.each(['now', 'later'] as const)('is refused before any admitter (%s)', async (how) => {
    const refusal = refuse(NOT_FOUND, 'no');
    const { ask, trail } = setUp({
      handle: () => 1,
      admitters: [admitter('paid')],
      readBody: () => (how === 'now' ? refusal : Promise.resolve(refusal)),
    });
    expect((await ask()).status).toBe(404);
    expect(trail).toEqual([]);
  });
});

describe('a refusal', () => {
  it('carries its status with its code', () => {
    expect(new Refusal(PAYMENT_REQUIRED, 'pay', {}).status).toBe(402);
  });
});
