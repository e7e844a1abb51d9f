/**
 * What one request of each kind sends, and what must come back. Every answer is judged: status, our error code, and what
 * a customer would look at (the offer, the receipt, the event id, the event that woke a wait).
 */
import type { Clock } from '../base/clock.ts';
import { EVENT_COUNT_MAX } from '../callback/limits.ts';
import { type Answer, headerOf, type Reply } from './connection.ts';
import type { LentCallback } from './lent-callbacks.ts';
import type { Kind } from './mix.ts';
import type { PaymentSupply } from './payments.ts';
import type { Pool } from './pool.ts';
import { receiptFaultOf } from './receipt.ts';
import type { Recorder } from './recorder.ts';
import { jsonOf, outcomeOf, type Requests } from './requests.ts';
import type { SignedPayment } from './signing.ts';

/**
 * `ready`   can be started now
 * `unsigned` waits for the generator's own signing threads
 * `busy`    waits for the answers to earlier ones
 * `used-up` never again in this run
 */
export type Readiness = 'ready' | 'unsigned' | 'busy' | 'used-up';

/** How a request ended: `broken` when its connection failed, so that nobody hurries to send the next one. */
export type Ending = 'answered' | 'broken';

export interface Operation {
  readiness(): Readiness;
  /** Sends; call it only when ready, and while the pool has room. @param plannedMs when it was due */
  start(plannedMs: number, onEnd: (ending: Ending) => void): void;
}

/** What the operations of a run share. */
export interface Run {
  readonly pool: Pool;
  readonly requests: Requests;
  readonly clock: Clock;
  readonly recorder: Recorder;
}

/** Outcome of an answer, and whether the scenario expects it. */
interface Verdict {
  readonly outcome: string;
  readonly isExpected: boolean;
}

const verdictOn = (answer: Answer, expectedStatus: number, faultOf: () => string | undefined): Verdict => {
  const outcome = outcomeOf(answer);
  if (answer.status !== expectedStatus) return { outcome, isExpected: false };
  const fault = faultOf();
  return fault === undefined ? { outcome, isExpected: true } : { outcome: `${outcome} ${fault}`, isExpected: false };
};

/** Sends a request and records how it ended. */
function send(
  { pool, clock, recorder }: Run,
  kind: Kind,
  request: string,
  plannedMs: number,
  judge: (answer: Answer) => Verdict,
  onEnd: (ending: Ending, reply: Reply) => void,
): void {
  pool.send(request, (reply) => {
    const doneMs = clock.monotonicMs();
    if (reply.kind === 'failure') recorder.record(kind, reply.code, false, plannedMs, doneMs);
    else {
      const { outcome, isExpected } = judge(reply);
      recorder.record(kind, outcome, isExpected, plannedMs, doneMs);
    }
    onEnd(reply.kind === 'failure' ? 'broken' : 'answered', reply);
  });
}

/** GET /health: 200. */
export function healthOperation(run: Run): Operation {
  const request = run.requests.get('/health');
  const judge = (answer: Answer): Verdict => verdictOn(answer, 200, () => undefined);
  return {
    readiness: () => 'ready',
    start: (plannedMs, onEnd) => send(run, 'health', request, plannedMs, judge, onEnd),
  };
}

const OFFER_EXPECTED = '402 PAYMENT_REQUIRED';

/** A question of the jobs routes without a payment: 402 with an offer. */
export function unpaidOperation(run: Run, questions: readonly string[]): Operation {
  const requests = questions.map((path) => run.requests.get(path));
  let turn = 0;
  const judge = (answer: Answer): Verdict => {
    const verdict = verdictOn(answer, 402, () =>
      headerOf(answer.head, 'payment-required') === undefined ? 'NO_OFFER' : undefined,
    );
    return { ...verdict, isExpected: verdict.outcome === OFFER_EXPECTED };
  };
  return {
    readiness: () => 'ready',
    start: (plannedMs, onEnd) => send(run, 'unpaid', requests[turn++ % requests.length]!, plannedMs, judge, onEnd),
  };
}

/** The same questions, each with a payment of its own: 200 with a receipt. `questions` match the offers of the supply. */
export function paidOperation(run: Run, questions: readonly string[], supply: PaymentSupply): Operation {
  let turn = 0;
  let held: SignedPayment | undefined;
  return {
    readiness() {
      held ??= supply.take(turn % questions.length);
      return held === undefined ? 'unsigned' : 'ready';
    },
    start(plannedMs, onEnd) {
      const payment = held!; // ready
      held = undefined;
      const request = run.requests.get(questions[turn++ % questions.length]!, { 'payment-signature': payment.header });
      const judge = (answer: Answer): Verdict => verdictOn(answer, 200, () => receiptFaultOf(answer, payment.payer));
      send(run, 'paid', request, plannedMs, judge, onEnd);
    },
  };
}

const EVENT_ID = /^evt_[a-f0-9]{32}$/;
/** What a full callback and one over its rate answer (callback.md, "Events"). */
const FULL_OUTCOMES: ReadonlySet<string> = new Set(['410 CALLBACK_EVENT_LIMIT_REACHED', '429 RATE_LIMIT_EXCEEDED']);

function eventIdOf(answer: Answer): string | undefined {
  const { received, event_id } = (jsonOf(answer) ?? {}) as { received?: unknown; event_id?: unknown };
  return received === true && EVENT_ID.test(String(event_id)) ? String(event_id) : undefined;
}

const webhookBody = (sequence: number): string =>
  `{"type":"load.tested","sequence":${sequence},"data":{"object":"job","status":"open","note":"${'x'.repeat(200)}"}}`;

const webhookRequest = (requests: Requests, id: string, sequence: number): string =>
  requests.post(`/hooks/${id}`, { 'content-type': 'application/json' }, webhookBody(sequence));

/**
 * Webhooks, to the callbacks in turn. Ten of each are stored (200); what is sent to one beyond that is refused by its limits
 * (410, 429), which is expected then and only then. On different connections a later one may overtake an earlier one, so
 * it counts how many had been sent when the answer came.
 */
export function webhookOperation(run: Run, callbacks: readonly LentCallback[]): Operation {
  let sequence = 0;
  const sentCounts = new Uint32Array(callbacks.length);
  const storedCounts = new Uint32Array(callbacks.length);
  return {
    readiness: () => (callbacks.length === 0 ? 'used-up' : 'ready'),
    start(plannedMs, onEnd) {
      const index = sequence % callbacks.length;
      sentCounts[index]!++;
      const request = webhookRequest(run.requests, callbacks[index]!.id, sequence++);
      const judge = (answer: Answer): Verdict => {
        const verdict = verdictOn(answer, 200, () => {
          if (eventIdOf(answer) === undefined) return 'NO_EVENT_ID';
          storedCounts[index]!++;
          return storedCounts[index]! > EVENT_COUNT_MAX ? 'ELEVENTH_EVENT' : undefined;
        });
        const isFull = sentCounts[index]! > EVENT_COUNT_MAX && FULL_OUTCOMES.has(verdict.outcome);
        return isFull ? { ...verdict, isExpected: true } : verdict;
      };
      send(run, 'webhook', request, plannedMs, judge, onEnd);
    },
  };
}

/** A callback with the waits that are held on it. */
interface WaitGroup {
  readonly callback: LentCallback;
  /** The last event that came; empty for none. */
  after: string;
  sentCount: number;
  /** A wait of it failed: it is not used again. */
  isBroken: boolean;
  wake: Wake | undefined;
}

/** One webhook and the waits that it is to wake. */
interface Wake {
  readonly plannedMs: number;
  waitingCount: number;
  eventId: string | undefined;
  /** Waits that were woken before the webhook's own answer came: the event's id, and when. */
  readonly early: { readonly id: string; readonly doneMs: number }[];
  isAnswered: boolean;
  readonly timer: ReturnType<typeof setTimeout>;
  readonly end: (ending: Ending) => void;
  ending: Ending;
}

export interface WaitOptions {
  readonly callbacks: readonly LentCallback[];
  /** Connections of the waits, apart from all others. */
  readonly waitPool: Pool;
  readonly waitCount: number;
  readonly waitsPerCallback: number;
  /** A wait that a webhook has not woken by then has not been woken. */
  readonly timeoutMs: number;
}

/** Seconds; the longest that there is, so that little but events ends a wait. */
const WAIT_SECONDS = 30;

/**
 * Waits that are held, and webhooks that wake them. The latency is that of the waits: from when the webhook was due to the
 * answer of each wait. The webhook's own answer is recorded as a webhook.
 */
export class WaitOperation implements Operation {
  readonly #run: Run;
  readonly #options: WaitOptions;
  /** Callbacks with their waits held, the one held longest first. */
  readonly #held: WaitGroup[] = [];
  readonly #spare: LentCallback[];
  #wakingCount = 0;
  #sequence = 0;
  #isOver = false;
  /** A group is held again. */
  onHeld: () => void = () => {};

  constructor(run: Run, options: WaitOptions) {
    this.#run = run;
    this.#options = options;
    this.#spare = [...options.callbacks].reverse();
  }

  /** Sends the waits. */
  hold(): void {
    const { waitCount, waitsPerCallback } = this.#options;
    for (let held = 0; held < waitCount && this.#spare.length > 0; held += waitsPerCallback) this.#holdNext();
  }

  readiness(): Readiness {
    if (this.#held.length > 0) return 'ready';
    return this.#wakingCount > 0 ? 'busy' : 'used-up';
  }

  start(plannedMs: number, onEnd: (ending: Ending) => void): void {
    const group = this.#held.shift()!; // ready
    const { waitsPerCallback, timeoutMs } = this.#options;
    const wake: Wake = {
      plannedMs,
      waitingCount: waitsPerCallback,
      eventId: undefined,
      early: [],
      isAnswered: false,
      timer: setTimeout(() => this.#giveUp(group, wake), timeoutMs),
      end: onEnd,
      ending: 'answered',
    };
    group.wake = wake;
    group.sentCount++;
    this.#wakingCount++;
    const judge = (answer: Answer): Verdict =>
      verdictOn(answer, 200, () => (eventIdOf(answer) === undefined ? 'NO_EVENT_ID' : undefined));
    const request = webhookRequest(this.#run.requests, group.callback.id, this.#sequence++);
    send(this.#run, 'webhook', request, plannedMs, judge, (ending, reply) => {
      wake.isAnswered = true;
      wake.ending = ending;
      wake.eventId = reply.kind === 'answer' ? eventIdOf(reply) : undefined;
      if (wake.eventId === undefined) group.isBroken = true;
      for (const { id, doneMs } of wake.early) this.#record(wake, id, doneMs);
      this.#settle(group, wake);
    });
  }

  /** No wait is sent again; those that are held are given up with their connections. */
  stop(): void {
    this.#isOver = true;
  }

  #holdNext(): void {
    const callback = this.#spare.pop();
    if (callback === undefined) return;
    const group: WaitGroup = { callback, after: '', sentCount: 0, isBroken: false, wake: undefined };
    this.#holdGroup(group);
  }

  #holdGroup(group: WaitGroup): void {
    for (let i = 0; i < this.#options.waitsPerCallback; i++) this.#wait(group);
    this.#held.push(group);
    this.onHeld();
  }

  #wait(group: WaitGroup): void {
    const { id, authorization } = group.callback;
    const path = `/v1/callbacks/${id}/wait?timeout=${WAIT_SECONDS}&after=${group.after}`;
    this.#options.waitPool.send(this.#run.requests.get(path, { authorization }), (reply) => this.#onWait(group, reply));
  }

  #onWait(group: WaitGroup, reply: Reply): void {
    const { wake } = group;
    if (this.#isOver || (wake === undefined && group.isBroken)) return;
    const { clock, recorder } = this.#run;
    const doneMs = clock.monotonicMs();
    if (reply.kind === 'failure' || reply.status !== 200) {
      const outcome = reply.kind === 'failure' ? reply.code : outcomeOf(reply);
      recorder.record('wait', outcome, false, wake?.plannedMs ?? doneMs, doneMs);
      group.isBroken = true;
    } else {
      const { received, event } = (jsonOf(reply) ?? {}) as { received?: unknown; event?: { id?: unknown } };
      if (received === false) {
        this.#wait(group); // its 30 s are over
        return;
      }
      const id = String(event?.id);
      if (wake === undefined) recorder.record('wait', '200 UNSENT_EVENT', false, doneMs, doneMs);
      else if (wake.eventId !== undefined || !EVENT_ID.test(id)) this.#record(wake, id, doneMs);
      else {
        // The webhook's answer, which names the event, is still on its way: the time counts now, the id is compared then.
        wake.early.push({ id, doneMs });
      }
      group.after = id;
    }
    if (wake === undefined) {
      const place = this.#held.indexOf(group);
      if (place >= 0) this.#held.splice(place, 1);
      return;
    }
    wake.waitingCount--;
    this.#settle(group, wake);
  }

  #record(wake: Wake, id: string, doneMs: number): void {
    const isRight = id === wake.eventId;
    this.#run.recorder.record('wait', isRight ? '200' : '200 WRONG_EVENT', isRight, wake.plannedMs, doneMs);
  }

  /** After the timeout: waits that were not woken count as such, and the callback is not used again. */
  #giveUp(group: WaitGroup, wake: Wake): void {
    const nowMs = this.#run.clock.monotonicMs();
    for (; wake.waitingCount > 0; wake.waitingCount--) {
      this.#run.recorder.record('wait', 'NOT_WOKEN', false, wake.plannedMs, nowMs);
    }
    group.isBroken = true;
    this.#settle(group, wake);
  }

  #settle(group: WaitGroup, wake: Wake): void {
    const isWhole = wake.isAnswered && (wake.waitingCount === 0 || wake.eventId === undefined);
    if (!isWhole || group.wake !== wake) return;
    group.wake = undefined;
    clearTimeout(wake.timer);
    this.#wakingCount--;
    if (!this.#isOver) {
      if (group.isBroken || group.sentCount === EVENT_COUNT_MAX) this.#holdNext();
      else this.#holdGroup(group);
    }
    wake.end(wake.ending);
  }
}
