/**
 * The path of one request through one route, in the order that is part of the contract (decisions §4): decode (400), admit
 * (429, 402, 409, 503), answer (404, 5xx: nothing is charged), settle (402, 503), respond. The answer's body stays inside
 * until every pass has settled. Whatever can be answered without waiting is answered synchronously: a promise on the way of
 * an unpaid offer costs more than the offer.
 */

import { memoizeRecent } from '../base/memoize-recent.ts';
import type { Access, Gate, Pass, Question } from './access.ts';
import { Refusal, refuse } from './errors.ts';
import { type Parameters, type QueryDecoder, queryDecoder } from './query.ts';
import type { Responder } from './respond.ts';
import { type Call, Held, JsonText, type Method, Provisional, Reply, type Route, type Told } from './route.ts';

/** A route with everything that is prepared once: decoder, gates, headers. */
export interface ServedRoute {
  readonly operation: string;
  readonly method: Method;
  readonly path: `/${string}`;
  serve(call: Call, search: string): Served;
}

export type Served = Response | Promise<Response> | Held;

export type GateFor = (route: Route, access: Access) => Gate;

/** What the log wants to know about a refusal; set on the call by the one place where refusals leave. */
export type OnRefusal = (told: Told, refusal: Refusal) => void;

/** Ready to be sent; made before anything is settled, so that nothing is paid for that cannot be said. */
type Body = string | Reply;

function bodyOf(answer: unknown): Body {
  if (answer instanceof Reply) return answer;
  return answer instanceof JsonText ? answer.text : JSON.stringify(answer);
}

/** Questions that are remembered, a route: with an offer 5 KB each on Node and twice that on Bun. */
const QUESTION_COUNT_MAX = 256;
const URL_LENGTH_MAX = 512;

const NO_INPUT: Parameters = Object.freeze(Object.create(null));

interface DecodedQuestion extends Question {
  readonly input: Parameters | Refusal;
}

function releaseAll(passes: readonly Pass[]): void {
  for (const pass of passes) pass.release();
}

export function servedRoute<S>(
  route: Route<S>,
  services: S,
  gateFor: GateFor,
  responder: Responder,
  onRefusal: OnRefusal,
): ServedRoute {
  const decode: QueryDecoder = route.query === undefined ? () => NO_INPUT : queryDecoder(route.query);
  const decoded = (search: string): DecodedQuestion => ({ input: decode(search), offer: undefined });
  const questionOf = memoizeRecent(decoded, QUESTION_COUNT_MAX, URL_LENGTH_MAX);
  const gates = route.access.map((access) => gateFor(route, access));
  const isPaid = route.access.some((access) => access.kind === 'x402');
  /** What nothing is made of need not be remembered. */
  const isKept = isPaid || route.query !== undefined;
  const status = route.status ?? 200;
  const cacheControl = isPaid ? 'private, no-store' : (route.cacheControl ?? 'no-store');
  const handle = route.handle as (input: Parameters, services: S, call: Call) => unknown;

  const refused = (told: Told, refusal: Refusal): Response => {
    onRefusal(told, refusal);
    return responder.refusal(refusal, told.requestId);
  };

  const success = (told: Told, body: Body, settled: Readonly<Record<string, string>> | undefined): Response =>
    body instanceof Reply
      ? responder.reply(status, body, cacheControl, settled, told.requestId)
      : responder.json(status, body, cacheControl, settled, told.requestId);

  /** What a held answer comes to; no pass has waited for it. */
  const respond = (told: Told, answer: unknown): Response =>
    answer instanceof Refusal ? refused(told, answer) : success(told, bodyOf(answer), undefined);

  /** No answer is held behind a promise: that would be the promise and all that it keeps. */
  const promised = (served: Served): Response | Promise<Response> => {
    if (served instanceof Held) throw new Error(`${route.operation} holds an answer that others wait for`);
    return served;
  };

  /** Settles the passes, last given first; when one refuses, those given before it are released. */
  const settleAll = async (
    call: Call,
    passes: readonly Pass[],
    answer: Body | Provisional<unknown>,
  ): Promise<Response> => {
    let headers: Readonly<Record<string, string>> | undefined;
    for (let i = passes.length - 1; i >= 0; i--) {
      let settled: Readonly<Record<string, string>> | Refusal;
      try {
        settled = await (passes[i] as Pass).settle();
      } catch (failure) {
        releaseAll(passes.slice(0, i));
        throw failure;
      }
      if (settled instanceof Refusal) {
        releaseAll(passes.slice(0, i));
        return refused(call, settled);
      }
      headers = headers === undefined ? settled : { ...headers, ...settled };
    }
    if (!(answer instanceof Provisional)) return success(call, answer, headers);
    let body: Body;
    try {
      body = bodyOf(await answer.confirm());
    } catch (failure) {
      // It is paid for: the receipt goes out even though the answer cannot.
      const detail = failure instanceof Error ? (failure.stack ?? failure.message) : String(failure);
      const message = 'the payment has settled, but what it was for could not be made; keep the receipt';
      return refused(call, refuse('INTERNAL_ERROR', message, { headers, detail }));
    }
    return success(call, body, headers);
  };

  const finish = (call: Call, passes: readonly Pass[], answer: unknown): Response | Promise<Response> => {
    if (answer instanceof Refusal) {
      releaseAll(passes);
      return refused(call, answer);
    }
    if (answer instanceof Provisional) return settleAll(call, passes, answer);
    let body: Body;
    try {
      body = bodyOf(answer);
    } catch (failure) {
      releaseAll(passes);
      throw failure;
    }
    return passes.length === 0 ? success(call, body, undefined) : settleAll(call, passes, body);
  };

  const answerWith = (call: Call, input: Parameters, passes: readonly Pass[]): Served => {
    const release = (failure: unknown): never => {
      releaseAll(passes);
      throw failure;
    };
    let answer: unknown;
    try {
      answer = handle(input, services, call);
    } catch (failure) {
      return release(failure);
    }
    if (answer instanceof Held) {
      if (passes.length > 0) return release(new Error(`${route.operation} holds an answer that was paid for`));
      return answer.respondWith(respond);
    }
    if (!(answer instanceof Promise)) return finish(call, passes, answer);
    return answer.then((value) => finish(call, passes, value), release);
  };

  const admitFrom = (
    first: number,
    call: Call,
    question: Question,
    input: Parameters,
    held: readonly Pass[],
  ): Served => {
    let passes = held;
    const refuseHeld = (refusal: Refusal): Response => {
      releaseAll(passes);
      return refused(call, refusal);
    };
    for (let i = first; i < gates.length; i++) {
      let admitted: ReturnType<Gate['admit']>;
      try {
        admitted = (gates[i] as Gate).admit(call, question);
      } catch (failure) {
        releaseAll(passes);
        throw failure;
      }
      if (admitted instanceof Promise) {
        return admitted.then(
          (result) => {
            if (result instanceof Refusal) return refuseHeld(result);
            return promised(
              admitFrom(i + 1, call, question, input, result === undefined ? passes : [...passes, result]),
            );
          },
          (failure) => {
            releaseAll(passes);
            throw failure;
          },
        );
      }
      if (admitted instanceof Refusal) return refuseHeld(admitted);
      if (admitted !== undefined) passes = [...passes, admitted];
    }
    return answerWith(call, input, passes);
  };

  return {
    operation: route.operation,
    method: route.method,
    path: route.path,
    serve(call, search) {
      // A slice of a long URL would keep the whole of it.
      const question = isKept && call.request.url.length <= URL_LENGTH_MAX ? questionOf(search) : decoded(search);
      const { input } = question;
      if (input instanceof Refusal) return refused(call, input);
      const unready = route.ready?.(services);
      if (unready !== undefined) return refused(call, unready);
      if (route.body === undefined) return admitFrom(0, call, question, input, []);
      const judged = route.body(call, services);
      if (judged === undefined) return admitFrom(0, call, question, input, []);
      if (judged instanceof Refusal) return refused(call, judged);
      return judged.then((result) =>
        result === undefined ? promised(admitFrom(0, call, question, input, [])) : refused(call, result),
      );
    },
  };
}
