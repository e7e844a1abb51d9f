/**
 * Executes one request of one operation. The order of the steps is part of the contract (decisions §4):
 *
 *   admit before input   a key                       401, 403
 *   decode               query, check, ready, body   400, 413, 415, 503
 *   admit                rate, capacity, payment     429, 402, 409, 503
 *   answer               the handler                 404, 5xx: the admissions are released
 *   settle               the admissions, last first  402, 503; no answer leaves before
 *
 * A step returns undefined to go on, or the outcome of the request. Invariant: every admission is settled once or released
 * once, however the request ends, and a receipt is never lost: a failure after the payment carries it. A request that
 * waits for nothing gets its outcome synchronously: a promise would cost more than the rest of an unpaid offer
 * (bench/offer.ts).
 */
import { stackOf } from '../base/failure.ts';
import { chain, chainWith, type MaybePromise } from '../base/maybe-promise.ts';
import type { Admission, Admitter } from './access.ts';
import { AfterSettlement, Answer, type AnswerBody, answerBodyOf, type HeaderRecord, type Outcome } from './answers.ts';
import { INTERNAL_ERROR, Refusal, refuse } from './errors.ts';
import { DeferredAnswer } from './hot/deferred-answer.ts';
import type { MountedOperation } from './operation.ts';
import type { Parameters } from './query.ts';
import type { ReadBody, RequestView } from './request-view.ts';

type Step = (execution: Execution) => MaybePromise<Outcome | undefined>;

const NO_INPUT: Parameters = Object.freeze(Object.create(null));
/** The principal before the first admitter. */
const UNKNOWN_PRINCIPAL = Object.freeze({});
const NOTHING_READ: ReadBody = Object.freeze({});

/** Receives a failure that changes no outcome. */
export type ReportFailure = (failure: unknown, requestId: string) => void;

/** The state of one request between two steps. */
class Execution {
  readonly operation: MountedOperation;
  readonly report: ReportFailure;
  readonly request: RequestView;
  input: Parameters = NO_INPUT;
  principal: object = UNKNOWN_PRINCIPAL;
  read = NOTHING_READ;
  /** Admissions to settle or release, in the order of their admitters. */
  admissions: Admission[] | undefined;
  /** Index of the last admission that began to settle. From it on, admissions that settle are no longer released. */
  settledFrom = Number.POSITIVE_INFINITY;
  answer: unknown;

  constructor(operation: MountedOperation, report: ReportFailure, request: RequestView) {
    this.operation = operation;
    this.report = report;
    this.request = request;
  }

  addAdmission(admission: Admission): void {
    const { principal } = admission;
    if (principal !== undefined) {
      this.principal = this.principal === UNKNOWN_PRINCIPAL ? principal : { ...this.principal, ...principal };
    }
    const { settle, created, release, delivered } = admission;
    if (settle === undefined && created === undefined && release === undefined && delivered === undefined) return;
    if (this.admissions === undefined) this.admissions = [admission];
    else this.admissions.push(admission);
  }

  /** Releases each unsettled admission, even when another release fails. @returns a promise only when a release waits */
  releaseAll(): Promise<unknown> | undefined {
    const { admissions } = this;
    this.admissions = undefined;
    if (admissions === undefined) return undefined;
    const failed = (failure: unknown): void => this.report(failure, this.request.requestId);
    const waiting: Promise<void>[] = [];
    for (const [i, admission] of admissions.entries()) {
      if (i >= this.settledFrom && admission.settle !== undefined) continue;
      try {
        const released = admission.release?.();
        if (released instanceof Promise) waiting.push(released.catch(failed));
      } catch (failure) {
        failed(failure);
      }
    }
    return waiting.length === 0 ? undefined : Promise.all(waiting);
  }
}

function admitted(
  execution: Execution,
  decision: Admission | Refusal | Answer | undefined,
): Refusal | Answer | undefined {
  if (decision instanceof Refusal || decision instanceof Answer) return decision;
  if (decision !== undefined) execution.addAdmission(decision);
  return undefined;
}

const admit =
  (admitter: Admitter): Step =>
  (execution) =>
    chainWith(execution, admitter.admit(execution.request, execution.principal, execution.read), admitted);

const decode =
  (decodeQuery: NonNullable<MountedOperation['decodeQuery']>): Step =>
  (execution) => {
    const decoded = decodeQuery(execution.request.search);
    if (decoded instanceof Refusal) return decoded;
    execution.input = decoded;
    return undefined;
  };

const checkInput =
  (check: NonNullable<MountedOperation['check']>): Step =>
  ({ input, request }) =>
    check(input, request);

function bodyRead(execution: Execution, read: ReadBody | Refusal): Refusal | undefined {
  if (read instanceof Refusal) return read;
  execution.read = read;
  if (read.body !== undefined) execution.input = { ...execution.input, body: read.body };
  return undefined;
}

const readBody =
  (read: NonNullable<MountedOperation['readBody']>): Step =>
  (execution) =>
    chainWith(execution, read(execution.request), bodyRead);

function answered(execution: Execution, answer: unknown): Outcome | undefined {
  if (answer instanceof Refusal) return answer;
  if (answer instanceof DeferredAnswer) {
    if (execution.admissions === undefined) return answer;
    throw new Error(`${execution.operation.operation} defers an answer although it has admissions to settle`);
  }
  execution.answer = answer;
  return undefined;
}

const callHandler: Step = (execution) => {
  const { operation, input, request, principal } = execution;
  // An answer may take seconds, and the input has all that it needs of the body.
  execution.read = NOTHING_READ;
  return chainWith(execution, operation.handle(input, request, principal), answered);
};

/** The payment has settled but the answer could not be created: the refusal carries the receipt. */
function lostAnswer(failure: unknown, receipt: HeaderRecord): Refusal {
  const detail = stackOf(failure);
  const message = 'the payment has settled, but the server could not create the answer; keep the receipt';
  return refuse(INTERNAL_ERROR, message, { headers: receipt, detail });
}

function withReceipt(refusal: Refusal, receipt: HeaderRecord | undefined): Refusal {
  if (receipt === undefined) return refusal;
  const { extras } = refusal;
  return new Refusal(refusal, refusal.message, { ...extras, headers: { ...extras.headers, ...receipt } });
}

/** Calls every `delivered` of the admissions once the answer has left; undefined when there is none. */
function deliveredOf(admissions: readonly Admission[]): (() => void) | undefined {
  const calls = admissions.flatMap(({ delivered }) => delivered ?? []);
  if (calls.length < 2) return calls[0];
  return () => {
    for (const call of calls) call();
  };
}

async function tellCreated(
  { report, request }: Execution,
  body: AnswerBody,
  draft: unknown,
  admissions: readonly Admission[],
): Promise<AnswerBody> {
  for (const admission of admissions) {
    try {
      await admission.created?.(body, draft);
    } catch (failure) {
      report(failure, request.requestId);
    }
  }
  return body;
}

/** The body of an answer that is created after settlement, once every admission with a `created` has seen it. */
function createdBody(
  execution: Execution,
  answer: AfterSettlement<unknown>,
  admissions: readonly Admission[],
): MaybePromise<AnswerBody> {
  return chain(answer.create(), (created) => {
    const body = answerBodyOf(created);
    if (admissions.every((admission) => admission.created === undefined)) return body;
    return tellCreated(execution, body, answer.draft, admissions);
  });
}

/**
 * Settles the admissions, last first. When one refuses, the caller releases the others. An admission without `settle` only
 * holds something for the answer, so it stays releasable until all others have settled. Synchronous if the admissions are:
 * three promises would cost a tenth of an answer for credits in memory (bench/data-api.ts).
 */
class Settlement {
  readonly #execution: Execution;
  readonly #all: readonly Admission[];
  readonly #answer: AnswerBody | AfterSettlement<unknown>;
  #receipt: HeaderRecord | undefined;

  constructor(execution: Execution, answer: AnswerBody | AfterSettlement<unknown>) {
    this.#execution = execution;
    this.#all = execution.admissions ?? [];
    this.#answer = answer;
  }

  outcome(): MaybePromise<Outcome> {
    const failed = (failure: unknown): Refusal => {
      if (this.#receipt === undefined) throw failure;
      return lostAnswer(failure, this.#receipt);
    };
    try {
      const outcome = this.#settleFrom(this.#all.length - 1);
      return outcome instanceof Promise ? outcome.catch(failed) : outcome;
    } catch (failure) {
      return failed(failure);
    }
  }

  #settleFrom(last: number): MaybePromise<Outcome> {
    for (let i = last; i >= 0; i--) {
      const admission = this.#all[i] as Admission;
      if (admission.settle === undefined) continue;
      this.#execution.settledFrom = i;
      const settled = admission.settle(this.#answer);
      if (settled instanceof Promise) {
        return settled.then((later) => this.#refusalIn(later) ?? this.#settleFrom(i - 1));
      }
      const refusal = this.#refusalIn(settled);
      if (refusal !== undefined) return refusal;
    }
    this.#execution.admissions = undefined;
    const answer = this.#answer;
    return chain(
      answer instanceof AfterSettlement ? createdBody(this.#execution, answer, this.#all) : answer,
      (body) => new Answer(body, this.#receipt, deliveredOf(this.#all)),
    );
  }

  #refusalIn(settled: HeaderRecord | Refusal | undefined): Refusal | undefined {
    if (settled instanceof Refusal) return withReceipt(settled, this.#receipt);
    if (settled !== undefined) this.#receipt = this.#receipt === undefined ? settled : { ...this.#receipt, ...settled };
    return undefined;
  }
}

const settle: Step = (execution) => {
  const { answer, admissions } = execution;
  if (answer instanceof AfterSettlement) return new Settlement(execution, answer).outcome();
  const body = answerBodyOf(answer);
  return admissions === undefined ? new Answer(body, undefined) : new Settlement(execution, body).outcome();
};

/** The steps of an operation, in their order. */
function stepsOf({
  admittersBeforeInput,
  decodeQuery,
  check,
  ready,
  readBody: read,
  admitters,
}: MountedOperation): readonly Step[] {
  return [
    ...admittersBeforeInput.map(admit),
    ...(decodeQuery === undefined ? [] : [decode(decodeQuery)]),
    ...(check === undefined ? [] : [checkInput(check)]),
    ...(ready === undefined ? [] : [ready]),
    ...(read === undefined ? [] : [readBody(read)]),
    ...admitters.map(admit),
    callHandler,
    settle,
  ];
}

/** Releases what was admitted, then fails as the step did. */
function failed(execution: Execution, failure: unknown): Promise<never> {
  const rethrow = (): never => {
    throw failure;
  };
  return execution.releaseAll()?.then(rethrow) ?? rethrow();
}

/** Continues when a step's promise has settled. @param next the step after it */
function runLater(
  result: Promise<Outcome | undefined>,
  steps: readonly Step[],
  next: number,
  execution: Execution,
): Promise<Outcome> {
  return result.then(
    (later) => (later === undefined ? run(steps, next, execution) : ended(execution, later)),
    (failure) => failed(execution, failure),
  );
}

/**
 * Runs the steps from `first` on, synchronously up to the first step that returns a promise. Without a closure: engines would
 * allocate one for each step of each request, scattered in memory among the objects that parked waits hold (bench/parked.ts).
 */
function run(steps: readonly Step[], first: number, execution: Execution): MaybePromise<Outcome> {
  for (let i = first; i < steps.length; i++) {
    let result: ReturnType<Step>;
    try {
      result = (steps[i] as Step)(execution);
    } catch (failure) {
      return failed(execution, failure);
    }
    if (result instanceof Promise) return runLater(result, steps, i + 1, execution);
    if (result !== undefined) return ended(execution, result);
  }
  throw new Error('an operation ended without an outcome');
}

/** The outcome waits until everything unsettled is released, so that the next request finds what it freed. */
function ended(execution: Execution, outcome: Outcome): MaybePromise<Outcome> {
  const released = execution.admissions === undefined ? undefined : execution.releaseAll();
  return released === undefined ? outcome : after(released, outcome);
}

const after = <T>(step: Promise<unknown>, outcome: T): Promise<T> => step.then(() => outcome);

export type Execute = (request: RequestView) => MaybePromise<Outcome>;

/**
 * Prepares the steps of an operation. Executing throws or rejects only for a bug, and then has released every admission.
 * @param report receives the failures of releases
 */
export function executorOf(operation: MountedOperation, report: ReportFailure): Execute {
  const steps = stepsOf(operation);
  return (request) => run(steps, 0, new Execution(operation, report, request));
}
