/** Reading bodies within the budget, on time that the test moves. */
import { describe, expect, it } from 'vitest';
import { Deadlines } from '../../src/base/deadlines.ts';
import type { DisconnectListener } from '../../src/base/disconnect-listener.ts';
import { type BodyRead, BodyReader, type BodyRequest } from '../../src/http/body.ts';
import { BodyBudget } from '../../src/http/body-budget.ts';
import { WAITING_BODY_BYTES_MAX } from '../../src/http/limits.ts';
import { ManualTime, settle } from '../support/manual-time.ts';

const BOUNDS = { bytesMax: 60, deadlineMs: 30_000 };
const NETWORK = '192.0.2.1';

/** A request whose body arrives when the test says so. */
class Sent implements BodyRequest {
  readonly #headers: Record<string, string>;
  readonly #network: string;
  readCount = 0;
  lookUpCount = 0;
  hasLeft = false;
  listener: DisconnectListener | undefined;
  arrive: (bytes: Uint8Array) => void = () => {};
  fail: () => void = () => {};

  constructor(headers: Record<string, string>, network = NETWORK) {
    this.#headers = headers;
    this.#network = network;
  }

  readonly body = {
    headers: { get: (name: string) => this.#headers[name] ?? null },
    body: null as ReadableStream<Uint8Array> | null,
    arrayBuffer: (): Promise<ArrayBuffer> => {
      this.readCount++;
      return new Promise((resolve, reject) => {
        this.arrive = (bytes) => resolve(bytes.slice().buffer as ArrayBuffer);
        this.fail = () => reject(new Error('aborted'));
      });
    },
  };

  clientNetwork(): string {
    this.lookUpCount++;
    return this.#network;
  }

  onDisconnect(listener: DisconnectListener): void {
    this.listener = listener;
    if (this.hasLeft) listener.handleEvent();
  }
}

const declared = (bytes: number, network?: string): Sent => new Sent({ 'content-length': String(bytes) }, network);

function setUp(bytesMax = 100, waitingBytesMax = 1000) {
  const time = new ManualTime();
  const budget = new BodyBudget(bytesMax);
  const reader = new BodyReader(budget, new Deadlines(time, time, true), waitingBytesMax);
  const read = async (request: BodyRequest): Promise<string> => reader.use(request, BOUNDS, nameOf);
  return { time, budget, reader, read };
}

const nameOf = (read: BodyRead): string => (read.ok ? `${read.bytes.length} bytes` : read.kind);

describe('reading a body', () => {
  it('claims the declared length before it reads, and holds it until the body has been used', async () => {
    const { budget, reader } = setUp();
    const request = declared(40);
    let used: () => void = () => {};
    const outcome = reader.use(request, BOUNDS, () => new Promise<void>((resolve) => (used = resolve)));
    expect([request.readCount, budget.claimedBytes]).toEqual([1, 40]);
    request.arrive(new Uint8Array(40));
    await settle();
    expect(budget.claimedBytes).toBe(40);
    used();
    await outcome;
    expect(budget.claimedBytes).toBe(0);
  });

  it.each([
    [30, '60 bytes'],
    [31, 'too-large'],
  ])('claims the most that a body without a declared length may have: 30 and %d bytes are %s', async (rest, end) => {
    const { budget, read } = setUp();
    const chunked = new Sent({});
    let enqueue: (bytes: number) => void = () => {};
    let close: () => void = () => {};
    chunked.body.body = new ReadableStream({
      start(controller) {
        enqueue = (bytes) => controller.enqueue(new Uint8Array(bytes));
        close = () => controller.close();
      },
    });
    const outcome = read(chunked);
    expect(budget.claimedBytes).toBe(60);
    enqueue(30);
    enqueue(rest);
    close();
    expect(await outcome).toBe(end);
    expect(budget.claimedBytes).toBe(0);
  });

  it.each([
    [60, 60, '60 bytes', 1],
    [61, 61, 'too-large', 0],
    // A request that no listener has framed may declare what it likes.
    [5, 61, 'too-large', 1],
  ])('of %d declared bytes, and %d that come, ends as %s', async (bytes, arriving, outcome, readCount) => {
    const { read } = setUp();
    const request = declared(bytes);
    const reading = read(request);
    request.arrive(new Uint8Array(arriving));
    expect(await reading).toBe(outcome);
    expect(request.readCount).toBe(readCount);
  });

  it('of a stream that somebody else reads is a body that does not arrive', async () => {
    const { budget, read } = setUp();
    const request = new Sent({});
    request.body.body = new ReadableStream();
    request.body.body.getReader();
    expect(await read(request)).toBe('cut');
    expect(budget.claimedBytes).toBe(0);
  });

  it.each([
    [{}, 1],
    [{ isAnonymous: true } as const, 0],
  ])('with %j looks up the client %d times before the body has arrived', async (more, count) => {
    const { reader } = setUp();
    const request = declared(40);
    const reading = reader.use(request, { ...BOUNDS, ...more }, nameOf);
    expect(request.lookUpCount).toBe(count);
    request.arrive(new Uint8Array(40));
    expect(await reading).toBe('40 bytes');
  });

  it('leaves no deadline behind', async () => {
    const { time, read } = setUp();
    for (const passedMs of [20_000, 10_000]) {
      const request = declared(40);
      const reading = read(request);
      request.arrive(new Uint8Array(40));
      expect(await reading).toBe('40 bytes');
      time.pass(passedMs);
    }
    expect(time.pendingCount).toBe(0);
  });

  it('that does not fit waits unread, is read when there are bytes, and has 30 s for both', async () => {
    const { time, budget, read } = setUp();
    const first = declared(50);
    const reading = read(first);
    const waiting = declared(60, '198.51.100.1');
    const late = read(waiting);
    expect([waiting.readCount, budget.waitingCount]).toEqual([0, 1]);
    time.pass(20_000);
    first.arrive(new Uint8Array(50));
    expect(await reading).toBe('50 bytes');
    await settle();
    expect([waiting.readCount, budget.claimedBytes]).toEqual([1, 60]);
    time.pass(9_999);
    await settle();
    expect(budget.claimedBytes).toBe(60);
    time.pass(1);
    expect(await late).toBe('late');
    expect([budget.claimedBytes, time.pendingCount]).toEqual([0, 0]);
  });

  it('that never fits ends after 30 s without being read', async () => {
    const { time, budget, read } = setUp();
    budget.claim({ clientNetwork: () => 'holder' }, 50, 0);
    const waiting = declared(60);
    const outcome = read(waiting);
    time.pass(30_000);
    expect(await outcome).toBe('late');
    expect([waiting.readCount, budget.waitingCount, budget.claimedBytes]).toEqual([0, 0, 50]);
  });

  it('that is late is used once, without bytes of the budget', async () => {
    const { time, budget, reader } = setUp();
    const request = declared(40);
    const uses: unknown[] = [];
    const outcome = reader.use(request, BOUNDS, (read) => uses.push([nameOf(read), budget.claimedBytes]));
    time.pass(30_000);
    await outcome;
    request.arrive(new Uint8Array(40));
    await settle();
    expect(uses).toEqual([['late', 0]]);
  });

  it('takes while it waits what it has in memory: its length up to the most that is read ahead, or that', async () => {
    const { budget, read, reader } = setUp(100, WAITING_BODY_BYTES_MAX / 8);
    budget.claim({ clientNetwork: () => 'holder' }, 100, 0);
    for (let i = 0; i < 8; i++) void read(declared(60, 'declared'));
    expect(budget.waitingCount).toBe(8);
    for (let i = 0; i < 8; i++) {
      const chunked = new Sent({}, 'chunked');
      chunked.body.body = new ReadableStream();
      void read(chunked);
    }
    expect(budget.waitingCount).toBe(8 + 3);
    const long = { ...BOUNDS, bytesMax: WAITING_BODY_BYTES_MAX };
    for (let i = 0; i < 8; i++) void reader.use(declared(WAITING_BODY_BYTES_MAX, 'long'), long, nameOf);
    expect(budget.waitingCount).toBe(8 + 3 + 2);
  });

  it.each(['before', 'while it waits', 'while it is read'])('of a client that leaves %s is cut', async (when) => {
    const { time, budget, read } = setUp();
    const holder = read(declared(when === 'while it is read' ? 10 : 60));
    const request = declared(40);
    request.hasLeft = when === 'before';
    const outcome = read(request);
    if (when === 'while it waits') request.listener!.handleEvent();
    if (when === 'while it is read') request.fail();
    expect(await outcome).toBe('cut');
    time.pass(30_000);
    await holder;
    expect([budget.claimedBytes, budget.waitingCount, time.pendingCount]).toEqual([0, 0, 0]);
  });

  it('of a network that stalls everything it may does not delay another network', async () => {
    const { time, read } = setUp(1000);
    const stalled = Array.from({ length: 100 }, () => read(declared(50)));
    const honest = declared(60, '198.51.100.1');
    const outcome = read(honest);
    honest.arrive(new Uint8Array(60));
    expect(await outcome).toBe('60 bytes');
    time.pass(30_000);
    expect(new Set(await Promise.all(stalled))).toEqual(new Set(['late']));
  });

  it('gives its bytes back when its use throws', async () => {
    const { budget, reader } = setUp();
    const request = declared(50);
    const outcome = reader.use(request, BOUNDS, () => {
      throw new Error('a bug');
    });
    request.arrive(new Uint8Array(50));
    await expect(outcome).rejects.toThrow('a bug');
    expect(budget.claimedBytes).toBe(0);
  });
});
