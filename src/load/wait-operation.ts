/** The `wait` operation: holds waits on callbacks and wakes them with webhooks. */
import { EVENT_ID_FORM } from '../callback/identifier.ts';
import { EVENT_COUNT_MAX, WAIT_SECONDS_MAX } from '../callback/limits.ts';
import type { BoughtCallback } from './bought-callbacks.ts';
import type { Answer, Reply } from './connection.ts';
import {
  type Ending,
  type Operation,
  type Run,
  type SendReadiness,
  send,
  type Verdict,
  verdictOn,
} from './operation.ts';
import type { Pool } from './pool.ts';
import { jsonOf, outcomeOf } from './requests.ts';
import { eventIdOf, webhookRequest } from './webhooks.ts';

/** A callback and the waits held on it. */
interface WaitGroup {
  readonly callback: BoughtCallback;
  /** Id of the last event; empty for none. */
  after: string;
  sentCount: number;
  /** One of its waits failed: the run does not use it again. */
  isBroken: boolean;
  wake: Wake | undefined;
}

/** One webhook and the waits that it should wake. */
interface Wake {
  readonly plannedMs: number;
  waitingCount: number;
  eventId: string | undefined;
  /** Waits that ended before the webhook's own answer arrived: the event's id, and when. */
  readonly early: { readonly id: string; readonly doneMs: number }[];
  isAnswered: boolean;
  readonly timer: ReturnType<typeof setTimeout>;
  readonly end: (ending: Ending) => void;
  ending: Ending;
}

export interface WaitOptions {
  readonly callbacks: readonly BoughtCallback[];
  /** Connections of the waits only. */
  readonly waitPool: Pool;
  readonly waitCount: number;
  readonly waitsPerCallback: number;
  /** A wait still open this long after its webhook counts as not woken. */
  readonly timeoutMs: number;
}

/**
 * Held waits, and webhooks that wake them. The latency is that of the waits: from the time the webhook was due to the answer of
 * each wait. The webhook's own answer is recorded as a webhook.
 */
export class WaitOperation implements Operation {
  readonly #run: Run;
  readonly #options: WaitOptions;
  /** Callbacks whose waits are held, the one held longest first. */
  readonly #held: WaitGroup[] = [];
  readonly #spare: BoughtCallback[];
  #wakingCount = 0;
  #sequence = 0;
  #isOver = false;
  /** Called when the waits of a callback are held again. */
  onHeld: () => void = () => {};

  constructor(run: Run, options: WaitOptions) {
    this.#run = run;
    this.#options = options;
    this.#spare = [...options.callbacks].reverse();
  }

  /** Sends the first waits, each for the longest time that the contract allows, so that events end nearly all of them. */
  hold(): void {
    const { waitCount, waitsPerCallback } = this.#options;
    for (let held = 0; held < waitCount && this.#spare.length > 0; held += waitsPerCallback) this.#holdNext();
  }

  readiness(): SendReadiness {
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
    const onAnswer = (ending: Ending, reply: Reply): void => {
      wake.isAnswered = true;
      wake.ending = ending;
      wake.eventId = reply.kind === 'answer' ? eventIdOf(reply) : undefined;
      if (wake.eventId === undefined) group.isBroken = true;
      for (const { id, doneMs } of wake.early) this.#record(wake, id, doneMs);
      this.#settle(group, wake);
    };
    send(this.#run, { kind: 'webhook', request, plannedMs, judge, onEnd: onAnswer });
  }

  /** Sends no further wait. The held ones end when their pool closes. */
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
    const path = `/v1/callbacks/${id}/wait?timeout=${WAIT_SECONDS_MAX}&after=${group.after}`;
    this.#options.waitPool.send(this.#run.requests.get(path, { authorization }), (reply) => this.#onWait(group, reply));
  }

  #onWait(group: WaitGroup, reply: Reply): void {
    const { wake } = group;
    // The reply belongs to a callback that the run no longer uses, or comes after the timeout, which has counted the wait.
    if (this.#isOver || (wake === undefined ? group.isBroken : wake.waitingCount === 0)) return;
    const { clock, recorder } = this.#run;
    const doneMs = clock.monotonicMs();
    if (reply.kind === 'failure' || reply.status !== 200) {
      const outcome = reply.kind === 'failure' ? reply.code : outcomeOf(reply);
      recorder.record('wait', outcome, false, wake?.plannedMs ?? doneMs, doneMs);
      group.isBroken = true;
    } else {
      const { received, event } = (jsonOf(reply) ?? {}) as { received?: unknown; event?: { id?: unknown } };
      if (received === false) {
        this.#wait(group); // its 30 s ended without an event
        return;
      }
      const id = String(event?.id);
      if (wake === undefined) recorder.record('wait', '200 UNSENT_EVENT', false, doneMs, doneMs);
      else if (wake.eventId !== undefined || !EVENT_ID_FORM.test(id)) this.#record(wake, id, doneMs);
      else {
        // The webhook's answer, which names the event, is still under way: the time counts now, the id is checked then.
        wake.early.push({ id, doneMs });
      }
      group.after = id;
    }
    if (wake === undefined) {
      const place = this.#held.indexOf(group);
      if (place < 0) return; // another of its waits has failed before
      this.#held.splice(place, 1);
      this.#holdNext();
      return;
    }
    wake.waitingCount--;
    this.#settle(group, wake);
  }

  #record(wake: Wake, id: string, doneMs: number): void {
    const isRight = id === wake.eventId;
    this.#run.recorder.record('wait', isRight ? '200' : '200 WRONG_EVENT', isRight, wake.plannedMs, doneMs);
  }

  /** After the timeout: records the waits that were not woken. The run does not use the callback again. */
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
