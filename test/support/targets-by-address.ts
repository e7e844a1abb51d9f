/** A test's targets in place of the network: answers by address, each released by the test. */
import type { Outbound, OutboundRequest, OutboundResult } from '../../src/outbound/outbound.ts';
import type { Judged } from '../../src/outbound/target.ts';

export interface FakeAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly isTruncated?: boolean;
  /** The body does not come: the time is over before, unless the head is enough. */
  readonly isStuck?: true;
}

export type TargetAnswer =
  | FakeAnswer
  | { readonly fails: Exclude<OutboundResult['kind'], 'answer'> }
  /** Answers when the test calls `answer` with its address. */
  | 'held';

/** A host that begins with `blocked.`, `missing.` or `slow-name.` ends at its look-up; others are allowed. */
const LOOKED_UP = { 'blocked.': 'blocked', 'missing.': 'unreachable', 'slow-name.': 'timeout' } as const;

/** Bytes in a separate buffer. */
const bytesOf = (body: string | Uint8Array): Uint8Array<ArrayBuffer> =>
  new Uint8Array(typeof body === 'string' ? Buffer.from(body) : body);

export class TargetsByAddress implements Outbound {
  readonly targets = new Map<string, TargetAnswer>();
  /** Addresses in the order of the requests. */
  readonly sent: OutboundRequest[] = [];
  lookUpCount = 0;
  readonly #held = new Map<string, (target: Exclude<TargetAnswer, 'held'>) => void>();

  readonly policy = {
    judge(text: string): Judged & { readonly rule?: never } {
      const url = new URL(text);
      const isAllowed = /^https?:$/.test(url.protocol) && url.hostname.endsWith('.example');
      if (!isAllowed) return { ok: false, reason: 'the address is not public' } as never;
      url.hash = '';
      return { ok: true, target: { url, isOwnHook: false } };
    },
  };

  async lookUp({ url }: { readonly url: URL }): Promise<'allowed' | 'blocked' | 'unreachable' | 'timeout'> {
    this.lookUpCount++;
    const found = Object.entries(LOOKED_UP).find(([prefix]) => url.hostname.startsWith(prefix));
    return found === undefined ? 'allowed' : found[1];
  }

  send(request: OutboundRequest): Promise<OutboundResult> {
    this.sent.push(request);
    const { href } = request.target.url;
    const target = this.targets.get(href) ?? {
      status: 404,
      body: 'not found',
      headers: { 'content-type': 'text/plain' },
    };
    if (target !== 'held') return Promise.resolve(resultOf(target, request));
    return new Promise((resolve) => {
      this.#held.set(href, (later) => resolve(resultOf(later, request)));
      request.signal?.addEventListener('abort', () => resolve({ kind: 'aborted', detail: '', durationMs: 1 }));
    });
  }

  /** Lets a held target answer; waits for its request. */
  async answer(href: string, target: Exclude<TargetAnswer, 'held'>): Promise<void> {
    while (!this.#held.has(href)) await new Promise((resolve) => setImmediate(resolve));
    this.#held.get(href)?.(target);
    this.#held.delete(href);
  }

  isHeld(href: string): boolean {
    return this.#held.has(href);
  }
}

function resultOf(target: Exclude<TargetAnswer, 'held'>, request: OutboundRequest): OutboundResult {
  if ('fails' in target) return { kind: target.fails, detail: 'as the test says', durationMs: 1 };
  const {
    status = 200,
    headers = { 'content-type': 'text/html; charset=utf-8' },
    body = '',
    isTruncated = false,
    isStuck = false,
  } = target;
  const head = { status, headers: Object.entries(headers) };
  const isOver = request.endsAtHead?.(head) === true;
  if (isStuck && !isOver) return { kind: 'timeout', detail: 'no whole answer', durationMs: 1 };
  return { kind: 'answer', ...head, body: bytesOf(isOver ? '' : body), isTruncated, durationMs: 1 };
}
