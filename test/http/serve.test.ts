/** The order of one request: decode, admit, answer, settle, respond; what is held is settled or given back, exactly once. */
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import type { Access, Gate, Pass } from '../../src/http/access.ts';
import { type Refusal, refuse } from '../../src/http/errors.ts';
import { Responder } from '../../src/http/respond.ts';
import { type Call, Held, Provisional, Reply, route } from '../../src/http/route.ts';
import { servedRoute } from '../../src/http/serve.ts';

type Handler = () => unknown;

function setUp(options: { handle: Handler; gates: readonly ((trail: string[]) => Gate)[] }) {
  const trail: string[] = [];
  const kinds: Access[] = options.gates.map(() => ({ kind: 'caller-rate' }));
  const declared = route<undefined>()({
    operation: 'ask',
    method: 'GET',
    path: '/ask',
    summary: 'ask',
    access: kinds,
    query: v.strictObject({ limit: v.optional(v.number(), 1) }),
    answer: v.any(),
    errors: ['NOT_FOUND'],
    handle: () => {
      trail.push('answer');
      return options.handle() as never;
    },
  });
  let next = 0;
  const refusals: string[] = [];
  const served = servedRoute(
    declared,
    undefined,
    () => (options.gates[next++] as (trail: string[]) => Gate)(trail),
    new Responder({ 'x-everywhere': 'yes' }, false),
    (_, refusal) => refusals.push(refusal.code),
  );
  const call: Call = {
    path: '/ask',
    search: '',
    params: {},
    request: new Request('http://h/ask'),
    requestId: 'req_1',
    header: () => null,
    clientAddress: () => '',
    isDisconnected: () => false,
    onDisconnect: () => {},
  };
  const serve = (search = '') => served.serve(call, search);
  const ask = (search = ''): Response | Promise<Response> => {
    const given = serve(search);
    if (given instanceof Held) throw new Error('the answer is held');
    return given;
  };
  return { trail, refusals, serve, ask };
}

const passNamed = (name: string, trail: string[], settled: Record<string, string> | Refusal): Pass => ({
  async settle() {
    trail.push(`settle ${name}`);
    return settled;
  },
  release() {
    trail.push(`release ${name}`);
  },
});

const gate =
  (name: string, settled: Record<string, string> | Refusal = {}, how: 'now' | 'later' = 'now') =>
  (trail: string[]): Gate => ({
    admit() {
      trail.push(`admit ${name}`);
      const pass = passNamed(name, trail, settled);
      return how === 'now' ? pass : Promise.resolve(pass);
    },
  });

const closed =
  (how: 'now' | 'later' = 'now') =>
  (trail: string[]): Gate => ({
    admit() {
      trail.push('refuse');
      const refusal = refuse('PAYMENT_REQUIRED', 'pay', {
        members: ',"x402Version":2',
        headers: { 'payment-required': 'abc' },
      });
      return how === 'now' ? refusal : Promise.resolve(refusal);
    },
  });

const unsettled = refuse('PAYMENT_NOT_SETTLED', 'no');

describe('a request through its route', () => {
  it('answers an open route at once, without a promise', async () => {
    const { ask } = setUp({ handle: () => ({ a: 1 }), gates: [] });
    const response = ask();
    expect(response).toBeInstanceOf(Response);
    expect(await (response as Response).json()).toEqual({ a: 1 });
    expect((response as Response).headers.get('x-everywhere')).toBe('yes');
    expect((response as Response).headers.get('x-request-id')).toBe('req_1');
  });

  it('refuses bad input before any gate', async () => {
    const { ask, trail, refusals } = setUp({ handle: () => 1, gates: [gate('paid')] });
    expect((await ask('?no=1')).status).toBe(400);
    expect(trail).toEqual([]);
    expect(refusals).toEqual(['UNKNOWN_PARAMETER']);
  });

  it('refuses at the gate at once, with the members and headers that the gate adds', async () => {
    const { ask, trail } = setUp({ handle: () => 1, gates: [closed()] });
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
      gates: [gate('room', {}, how), gate('paid', { 'x-paid': '1' }, how)],
    });
    const response = await ask();
    expect(response.status).toBe(200);
    expect(response.headers.get('x-paid')).toBe('1');
    expect(trail).toEqual(['admit room', 'admit paid', 'answer', 'settle paid', 'settle room']);
  });

  it.each(['now', 'later'] as const)(
    'gives back what an earlier gate holds when a later one refuses (%s)',
    async (how) => {
      const { ask, trail } = setUp({ handle: () => 1, gates: [gate('room', {}, how), closed(how)] });
      expect((await ask()).status).toBe(402);
      expect(trail).toEqual(['admit room', 'refuse', 'release room']);
    },
  );

  it('gives everything back when the question is refused', async () => {
    const { ask, trail } = setUp({ handle: () => refuse('NOT_FOUND', 'no'), gates: [gate('room'), gate('paid')] });
    expect((await ask()).status).toBe(404);
    expect(trail).toEqual(['admit room', 'admit paid', 'answer', 'release room', 'release paid']);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('bug');
      },
    ],
    ['rejects', () => Promise.reject(new Error('bug'))],
  ])('gives everything back when the handler %s', async (_, handle) => {
    const { ask, trail } = setUp({ handle: handle as Handler, gates: [gate('paid')] });
    await expect((async () => ask())()).rejects.toThrow('bug');
    expect(trail).toEqual(['admit paid', 'answer', 'release paid']);
  });

  it('keeps the answer inside when settlement refuses, and gives the rest back', async () => {
    const { ask, trail } = setUp({ handle: () => ({ secret: 1 }), gates: [gate('room'), gate('paid', unsettled)] });
    const response = await ask();
    expect(response.status).toBe(402);
    expect(await response.text()).not.toContain('secret');
    expect(trail).toEqual(['admit room', 'admit paid', 'answer', 'settle paid', 'release room']);
  });

  class Later extends Held {
    override give(answer: unknown): void {
      super.give(answer);
    }
  }
  const free = (): Gate => ({ admit: () => undefined });

  it.each([
    ['an object', { a: 1 }, 200, '{"a":1}'],
    ['a reply', new Reply('text', { 'content-type': 'text/plain' }), 200, 'text'],
  ])('makes the response of a held answer when it is given: %s', async (_, answer, status, text) => {
    const held = new Later();
    const { serve, refusals } = setUp({ handle: () => held, gates: [free] });
    expect(serve()).toBe(held);
    const steps: string[] = [];
    const response = held.response({ requestId: 'req_2' }, (told, respond) => {
      steps.push(told.requestId);
      return respond();
    });
    await Promise.resolve();
    expect(steps).toEqual([]);
    held.give(answer);
    expect(steps).toEqual(['req_2']);
    expect((await response).status).toBe(status);
    expect((await response).headers.get('x-request-id')).toBe('req_2');
    expect(await (await response).text()).toBe(text);
    expect(refusals).toEqual([]);
  });

  it('refuses in a held answer as in any other', async () => {
    const held = new Later();
    const { serve, refusals } = setUp({ handle: () => held, gates: [free] });
    serve();
    const response = held.response({ requestId: 'req_2' }, (_, respond) => respond());
    held.give(refuse('NOT_FOUND', 'no'));
    expect((await response).status).toBe(404);
    expect(refusals).toEqual(['NOT_FOUND']);
  });

  it('holds no answer behind a gate that takes its time', async () => {
    const gates = [() => ({ admit: () => Promise.resolve(undefined) })];
    const { ask } = setUp({ handle: () => new Later(), gates });
    await expect(ask()).rejects.toThrow('holds an answer');
  });

  it('holds nothing that was paid for', () => {
    const { serve, trail } = setUp({ handle: () => new Later(), gates: [gate('paid')] });
    expect(() => serve()).toThrow('paid for');
    expect(trail).toEqual(['admit paid', 'answer', 'release paid']);
  });

  it('makes a provisional answer only once everything has settled', async () => {
    let made = 0;
    const provisional = () => new Provisional(() => ({ made: ++made }));
    const paid = setUp({ handle: provisional, gates: [gate('paid')] });
    expect(await (await paid.ask()).json()).toEqual({ made: 1 });
    const unpaid = setUp({ handle: provisional, gates: [gate('paid', unsettled)] });
    expect((await unpaid.ask()).status).toBe(402);
    expect(made).toBe(1);
  });

  it('gives back what earlier gates hold when a later one throws, and what it holds when the answer cannot be said', async () => {
    const throwing = (): Gate => ({
      admit() {
        throw new Error('bug');
      },
    });
    const first = setUp({ handle: () => 1, gates: [gate('room'), throwing] });
    expect(() => first.ask()).toThrow('bug');
    expect(first.trail).toEqual(['admit room', 'release room']);
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const second = setUp({ handle: () => circle, gates: [gate('paid')] });
    expect(() => second.ask()).toThrow(/circular|cyclic/i);
    expect(second.trail).toEqual(['admit paid', 'answer', 'release paid']);
  });

  it('sends the receipt even when what was paid for cannot be made', async () => {
    const failing = () =>
      new Provisional(() => {
        throw new Error('disk');
      });
    const { ask, refusals } = setUp({ handle: failing, gates: [gate('paid', { 'payment-response': 'abc' })] });
    const response = await ask();
    expect(response.status).toBe(500);
    expect(response.headers.get('payment-response')).toBe('abc');
    expect(await response.text()).not.toContain('disk');
    expect(refusals).toEqual(['INTERNAL_ERROR']);
  });

  it('sends a ready reply as it is, with its own status', async () => {
    const { ask } = setUp({ handle: () => new Reply('raw', { 'content-type': 'text/plain' }, 503), gates: [] });
    const response = await ask();
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      503,
      'text/plain',
      'raw',
    ]);
  });
});
