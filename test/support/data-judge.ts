/**
 * Asks an app with the Jobs Data API and compares each whole answer with the model's: status, body, headers, presence
 * of the cursor, the charge, and the credits left since the first question.
 */
import { isDeepStrictEqual } from 'node:util';
import { type DataQuestion, type NaiveDataApi, type NaiveOutcome, type Place, targetOf } from './naive-data-api.ts';
import type { Json } from './naive-data-summaries.ts';

const CURSOR = /^[A-Za-z0-9_-]{1,300}$/;
const PUBLIC_CACHE = 'max-age=60, s-maxage=300, stale-while-revalidate=600';
/** Failures that are shown; further ones are only counted. */
const FAILURES_MAX = 12;

export interface JudgedApp {
  fetch(request: Request): Response | Promise<Response>;
}

/** A page of a list: its limit and its start. */
export interface PageRequest {
  /** undefined: left out, which is 25. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  /** What the cursor stands for. */
  readonly after?: Place | undefined;
}

/** Where a chain continues; both are undefined at its end. */
export interface NextPage {
  readonly cursor: string | undefined;
  readonly after: Place | undefined;
  readonly returned: number;
}

/** The answer to a question that costs more than is left: returns nothing and charges nothing (siblings §3). */
interface Unaffordable {
  readonly status: 402;
  readonly code: 'INSUFFICIENT_CREDITS';
  /** Cost and remaining credits, as in the message. */
  readonly numbers: readonly [cost: number, rest: number];
  readonly charged: 0;
}

const unaffordable = (cost: number, rest: number): Unaffordable => ({
  status: 402,
  code: 'INSUFFICIENT_CREDITS',
  numbers: [cost, rest],
  charged: 0,
});

type Body = { data?: Record<string, Json>; meta?: Record<string, Json>; error?: Record<string, Json> };

export class DataJudge {
  readonly #app: JudgedApp;
  /** With the path of the surface, no trailing slash. */
  readonly #url: string;
  readonly #authorization: string;
  #remaining: number;
  #charged = 0;
  #comparisons = 0;
  #failed = 0;
  #failures: string[] = [];
  /** Id of the surface <-> name in the model. */
  readonly #nameOfId = new Map<string, string>();
  readonly #idOfName = new Map<string, string>();

  constructor(app: JudgedApp, url: string, key: string, credits: number) {
    this.#app = app;
    this.#url = url;
    this.#authorization = `Bearer ${key}`;
    this.#remaining = credits;
  }

  /** Answers compared so far. */
  get comparisons(): number {
    return this.#comparisons;
  }

  /** Credits that the model says were charged. */
  get charged(): number {
    return this.#charged;
  }

  /** The failures since the last call, with the first of them. */
  takeFailures(): { readonly count: number; readonly first: readonly string[] } {
    const taken = { count: this.#failed, first: this.#failures };
    this.#failed = 0;
    this.#failures = [];
    return taken;
  }

  /** Forgets the ids of events, before another history. */
  forgetEvents(): void {
    this.#nameOfId.clear();
    this.#idOfName.clear();
  }

  async ask(model: NaiveDataApi, question: DataQuestion, nowMs: number, page: PageRequest = {}): Promise<NextPage> {
    const { limit, cursor, after } = page;
    const asked = {
      ...(limit === undefined ? {} : { limit: String(limit) }),
      ...(cursor === undefined ? {} : { cursor }),
    };
    const target = targetOf(question, asked);
    const response = await this.#fetch(target);
    const body = (await response.json()) as Body;
    const wanted = model.answer(question, nowMs, limit, after);
    const expected = wanted.charged > this.#remaining ? unaffordable(wanted.charged, this.#remaining) : wanted;
    this.#comparisons++;
    this.#charged += expected.charged;
    this.#remaining -= expected.charged;
    const fault = this.#faultOf(question, expected, response, body);
    if (fault !== undefined) {
      this.#fail(`GET ${target}${after === undefined ? '' : ` after ${after}`}: ${fault}`);
      // Counts a wrong charge as one failure: later answers are judged by the credits left after it.
      this.#remaining = Number(response.headers.get('x-credits-remaining') ?? this.#remaining + expected.charged);
    }
    const next = body.data?.next_cursor;
    return {
      cursor: typeof next === 'string' ? next : undefined,
      after: expected.status === 200 ? (expected.next ?? undefined) : undefined,
      returned: expected.charged,
    };
  }

  /** All pages of a list. @returns the number of pages */
  async follow(model: NaiveDataApi, question: DataQuestion, nowMs: number, limit: number): Promise<number> {
    let pages = 0;
    let page: NextPage | undefined;
    // An endless feed returns a cursor even when it has nothing more.
    do {
      page = await this.ask(model, question, nowMs, { limit, cursor: page?.cursor, after: page?.after });
      pages++;
    } while (page.cursor !== undefined && page.after !== undefined && page.returned > 0);
    return pages;
  }

  /** Asks with a cursor that is no position of this question: 400 and free. */
  async refuse(question: DataQuestion, cursor: string): Promise<void> {
    const target = targetOf(question, { cursor });
    const response = await this.#fetch(target);
    const body = (await response.json()) as Body;
    this.#comparisons++;
    if (response.status !== 400 || body.error?.code !== 'INVALID_CURSOR' || response.headers.has('x-credits-charged')) {
      this.#fail(`GET ${target}: expected 400 INVALID_CURSOR, got ${response.status} ${body.error?.code}`);
    }
  }

  async #fetch(target: string): Promise<Response> {
    const isPublic = target.startsWith('/v1/public/');
    const headers = { host: new URL(this.#url).host, ...(isPublic ? {} : { authorization: this.#authorization }) };
    return this.#app.fetch(new Request(this.#url + target, { headers }));
  }

  #fail(text: string): void {
    this.#failed++;
    if (this.#failures.length < FAILURES_MAX) this.#failures.push(text);
  }

  #faultOf(
    question: DataQuestion,
    expected: NaiveOutcome | Unaffordable,
    response: Response,
    body: Body,
  ): string | undefined {
    const { headers, status } = response;
    if (status !== expected.status) return `expected ${expected.status}, got ${status} ${JSON.stringify(body.error)}`;
    if (expected.status !== 200) {
      if (headers.has('x-credits-charged') || headers.has('payment-required'))
        return 'a refusal has headers of another';
      const numbers = expected.status === 402 ? expected.numbers : [];
      const said = String(body.error?.message).match(/\d+/g)?.map(Number) ?? [];
      if (!numbers.every((number) => said.includes(number))) return `the message does not say ${numbers}: ${said}`;
      return body.error?.code === expected.code ? undefined : `expected ${expected.code}, got ${body.error?.code}`;
    }
    const isPublic = question.route.startsWith('/v1/public/');
    return (
      (isPublic ? this.#publicHeaderFault(headers) : this.#keyedHeaderFault(headers, expected.charged)) ??
      this.#metaFault(body, expected.meta, isPublic) ??
      this.#dataFault(body, expected)
    );
  }

  #publicHeaderFault(headers: Headers): string | undefined {
    const cache = headers.get('cache-control');
    if (cache !== PUBLIC_CACHE) return `expected Cache-Control ${PUBLIC_CACHE}, got ${cache}`;
    return /^W\/"[^"]+"$/.test(headers.get('etag') ?? '') ? undefined : `no weak ETag: ${headers.get('etag')}`;
  }

  #keyedHeaderFault(headers: Headers, charged: number): string | undefined {
    const wanted = {
      'cache-control': 'private, no-store',
      'x-credits-charged': String(charged),
      'x-credits-remaining': String(this.#remaining),
    };
    for (const [name, value] of Object.entries(wanted)) {
      if (headers.get(name) !== value) return `expected ${name} ${value}, got ${headers.get(name)}`;
    }
    return undefined;
  }

  #metaFault(body: Body, expected: Readonly<Record<string, Json>>, isPublic: boolean): string | undefined {
    const { request_id: requestId, limitations, ...meta } = body.meta ?? {};
    const wanted = isPublic
      ? expected
      : { ...expected, credits: { ...(expected.credits as object), remaining: this.#remaining } };
    if (isPublic !== (requestId === undefined)) return `request_id is ${JSON.stringify(requestId)}`;
    const isListed = Array.isArray(limitations) && limitations.every((one) => typeof one === 'string' && one !== '');
    if (!isListed && !(isPublic && limitations === undefined)) return `limitations are ${JSON.stringify(limitations)}`;
    return isDeepStrictEqual(meta, wanted) ? undefined : differenceOf('meta', wanted, meta);
  }

  #dataFault(body: Body, expected: Extract<NaiveOutcome, { status: 200 }>): string | undefined {
    const { next_cursor: cursor, ...data } = body.data ?? {};
    const idFault = this.#nameEvents(data.events, expected.data.events);
    if (idFault !== undefined) return idFault;
    if (!isDeepStrictEqual(data, expected.data)) return differenceOf('data', expected.data, data);
    // Only lists have a limit and a cursor; the public search has a limit and no cursor.
    const isPaged = 'limit' in data && !('samples' in data);
    if (!isPaged) return cursor === undefined ? undefined : `next_cursor of no list: ${cursor}`;
    if (expected.next === null) return cursor === null ? undefined : `expected the end, got next_cursor ${cursor}`;
    if (typeof cursor !== 'string') return `expected a next_cursor, got ${cursor}`;
    return CURSOR.test(cursor) ? undefined : `next_cursor is not URL-safe or too long: ${cursor}`;
  }

  /** Replaces ids by the model's names. Each event has one id, in every answer and after every rebuild. */
  #nameEvents(answered: Json | undefined, expected: Json | undefined): string | undefined {
    if (!Array.isArray(answered) || !Array.isArray(expected)) return undefined;
    for (let i = 0; i < Math.min(answered.length, expected.length); i++) {
      const event = answered[i] as { id: string };
      const { id: name } = expected[i] as { id: string };
      if (!this.#nameOfId.has(event.id) && !this.#idOfName.has(name)) {
        this.#nameOfId.set(event.id, name);
        this.#idOfName.set(name, event.id);
      }
      event.id = this.#nameOfId.get(event.id) ?? `unexpected id ${event.id}`;
    }
    return undefined;
  }
}

/** The first place at which two values differ, with both. */
function differenceOf(path: string, expected: Json | undefined, actual: Json | undefined): string {
  const isNode = (value: unknown): value is Record<string, Json> => typeof value === 'object' && value !== null;
  if (isNode(expected) && isNode(actual) && Array.isArray(expected) === Array.isArray(actual)) {
    for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      if (!isDeepStrictEqual(expected[name], actual[name])) {
        return differenceOf(`${path}.${name}`, expected[name], actual[name]);
      }
    }
  }
  const shown = (value: Json | undefined): string => (JSON.stringify(value) ?? 'nothing').slice(0, 400);
  return `${path}: expected ${shown(expected)}, got ${shown(actual)}`;
}
