/** The bounds of an outbound request; against real servers see test/adapters/facilitator/facilitator-http.process.test.ts. */
import { describe, expect, it, vi } from 'vitest';
import { boundedCall, type CallFetch, type CallRequest } from '../../../src/adapters/outbound/bounded-call.ts';
import type { Timers } from '../../../src/base/timers.ts';

const REQUEST: CallRequest = {
  method: 'POST',
  url: 'http://127.0.0.1:1/x',
  headers: { accept: 'application/json' },
  body: '{}',
  deadlineMs: 1000,
  answerBytesMax: 8,
};

/** Timers that the test fires itself. */
class HeldTimers implements Timers {
  readonly #runs = new Set<() => void>();

  after(_: number, run: () => void): () => void {
    this.#runs.add(run);
    return () => this.#runs.delete(run);
  }

  get count(): number {
    return this.#runs.size;
  }

  fire(): void {
    for (const run of this.#runs) run();
  }
}

const called = (send: CallFetch, timers = new HeldTimers()) => boundedCall(REQUEST, send, timers);

describe('a bounded call', () => {
  it('gives status, headers and the bytes of an answer up to the maximum, and cancels its deadline', async () => {
    const timers = new HeldTimers();
    const outcome = await called(async () => new Response('12345678', { status: 201, headers: { a: 'b' } }), timers);
    expect(outcome).toMatchObject({ kind: 'answer', status: 201 });
    if (outcome.kind === 'answer') {
      expect([outcome.headers.get('a'), Buffer.from(outcome.bytes).toString()]).toEqual(['b', '12345678']);
    }
    expect(timers.count).toBe(0);
  });

  it('asks for no encoding and follows no redirect', async () => {
    let seen: RequestInit | undefined;
    const outcome = await called(async (_, init) => {
      seen = init;
      return new Response(null, { status: 204 });
    });
    expect(outcome).toMatchObject({ kind: 'answer', bytes: new Uint8Array(0) });
    expect(seen).toMatchObject({ method: 'POST', body: '{}', redirect: 'manual' });
    expect(seen?.headers).toEqual({ accept: 'application/json', 'accept-encoding': 'identity' });
  });

  it.each([
    ['a byte more than the maximum', () => new Response('123456789'), 'answer over 8 bytes'],
    ['a redirect', () => new Response(null, { status: 308, headers: { location: '/y' } }), 'redirect 308'],
    ['the first of them', () => new Response('x', { status: 300 }), 'redirect 300'],
    ['the last of them', () => new Response('x', { status: 399 }), 'redirect 399'],
    ['one that is hidden', () => Response.error(), 'redirect 0'],
    ['an encoding', () => new Response('x', { headers: { 'content-encoding': 'gzip' } }), 'encoded answer'],
  ])('loses %s, though it came, and reads no further', async (_, answer, detail) => {
    let isOver = false;
    const send: CallFetch = async (_url, { signal }) => {
      signal?.addEventListener('abort', () => {
        isOver = true;
      });
      return answer();
    };
    expect(await called(send)).toEqual({ kind: 'lost', detail, isTransport: false });
    expect(isOver).toBe(true);
  });

  it('takes an error, and an answer that says that it is not encoded', async () => {
    for (const status of [299, 400]) {
      const answer = new Response('x', { status, headers: { 'content-encoding': 'Identity' } });
      expect(await called(async () => answer)).toMatchObject({ kind: 'answer', status });
    }
  });

  it('loses what has not come at the deadline, in the head or in the body', async () => {
    const aborted = (signal: AbortSignal): Promise<never> =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const silent: CallFetch = (_, init) => aborted(init.signal as AbortSignal);
    const stalled: CallFetch = async (_, init) =>
      new Response(new ReadableStream({ pull: () => aborted(init.signal as AbortSignal) }));
    for (const send of [silent, stalled]) {
      const timers = new HeldTimers();
      const outcome = called(send, timers);
      await new Promise((resolve) => setTimeout(resolve, 5));
      timers.fire();
      expect(await outcome).toEqual({ kind: 'lost', detail: 'no answer in 1000 ms', isTransport: true });
    }
  });

  it('loses what has not come when it is ended, says why, and listens no longer', async () => {
    const end = new AbortController();
    const removed = vi.spyOn(end.signal, 'removeEventListener');
    const silent: CallFetch = (_, { signal }) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
    const outcome = boundedCall({ ...REQUEST, end: end.signal }, silent, new HeldTimers());
    end.abort('the server stops');
    expect(await outcome).toEqual({ kind: 'lost', detail: 'no answer: the server stops', isTransport: true });
    expect(removed).toHaveBeenCalledOnce();
  });

  it('tells a request that was never sent from one that may have been', async () => {
    const failing = (code: string) => called(() => Promise.reject(Object.assign(new Error('x'), { code })));
    expect(await failing('ECONNREFUSED')).toEqual({ kind: 'not-sent', detail: 'ECONNREFUSED' });
    expect(await failing('EPIPE')).toEqual({ kind: 'lost', detail: 'connection lost (EPIPE)', isTransport: true });
  });
});
