/**
 * Carries one held job through its due steps: attempts, tries of its delivery, its expiry and its removal. An attempt is on
 * record before its first byte is sent ({@link OutboundRequest.onSent}), and the record decides whether it may be sent at all:
 * not if the job was cancelled meanwhile, has expired or has used up its attempts.
 */
import type { Clock } from '../base/clock.ts';
import { encodeUtf8 } from '../base/codec.ts';
import { drawFrom, type Random } from '../base/random.ts';
import type { Timers } from '../base/timers.ts';
import { UNPACKED_BYTES_MAX, WIRE_BYTES_MAX } from '../outbound/limits.ts';
import type { Outbound, OutboundRequest, OutboundResult, SentParts } from '../outbound/outbound.ts';
import type { Purpose } from '../outbound/target.ts';
import { attemptEndOf, attemptHeaders } from './attempts.ts';
import { completionEvent, eventIdOf, signedHeaders } from './completion-event.ts';
import { endDelivery, isDeliveryOver, startDelivery } from './delivery.ts';
import type { RetryId } from './identifier.ts';
import {
  type AttemptEnd,
  cancel,
  endAttempt,
  expire,
  hasEnded,
  INTERRUPTED,
  openAttempt,
  type RetryJob,
  startAttempt,
  stepOf,
  withDelivery,
} from './job.ts';
import { DELIVERY_TIMEOUT_MS } from './limits.ts';
import type { RetryMeter } from './meter.ts';
import type { Sealer } from './sealer.ts';
import { type JobSecrets, secretsOf, secretsText } from './secrets.ts';
import type { RetryChange, RetryRecord, RetryStore } from './store.ts';

export interface RunnerPorts {
  readonly store: RetryStore;
  readonly outbound: Outbound;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly meter: RetryMeter;
}

type DueRecord = Pick<RetryRecord, 'job' | 'secrets'>;

/** The record does not permit the request that was about to be sent. */
class NotSentError extends Error {}

/** Runs `record`. @returns false when the record does not permit the request */
async function isPermitted(record: () => Promise<void>): Promise<boolean> {
  try {
    await record();
    return true;
  } catch (failure) {
    if (failure instanceof NotSentError) return false;
    throw failure;
  }
}

const NOTHING: JobSecrets = { request: null, callback: null };

export class JobRunner {
  readonly #ports: RunnerPorts;
  /** Jobs with an attempt or a try on record that has not ended. */
  readonly #underWay = new Set<RetryId>();
  /** True: no further requests are sent. */
  isDraining = false;

  constructor(ports: RunnerPorts) {
    this.#ports = ports;
  }

  get underWayCount(): number {
    return this.#underWay.size;
  }

  isUnderWay(id: RetryId): boolean {
    return this.#underWay.has(id);
  }

  /** Carries out the due steps of a job that this process holds. @param signal aborts them, at a cancel and at shutdown */
  async run(id: RetryId, signal: AbortSignal): Promise<void> {
    try {
      await this.#steps(id, signal);
    } finally {
      this.#underWay.delete(id);
    }
  }

  async #steps(id: RetryId, signal: AbortSignal): Promise<void> {
    const { store, clock } = this.#ports;
    while (!signal.aborted) {
      const due = await this.#dueOf(id);
      if (due === undefined) return;
      const step = stepOf(due.job, clock.nowMs());
      switch (step) {
        case 'attempt':
          if (!(await this.#attempt(due, signal))) return;
          break;
        case 'deliver':
          if (!(await this.#deliver(due, signal))) return;
          break;
        case 'interrupt':
          await this.#end(id, INTERRUPTED, null);
          break;
        case 'interrupt-delivery':
          await this.#endDelivery(id, null);
          break;
        case 'expire':
          await store.update(id, ({ job, secrets }) => this.#ended(job, expire(job, clock.nowMs()), secrets));
          break;
        case 'remove':
          await store.remove(id);
          return;
        case 'none':
          return;
        default:
          step satisfies never;
      }
    }
  }

  /** A job with its secrets, but without its result, which may be long and would stay in memory while the job waits for a turn. */
  async #dueOf(id: RetryId): Promise<DueRecord | undefined> {
    const record = await this.#ports.store.find(id);
    return record && { job: record.job, secrets: record.secrets };
  }

  /** Ends a job because its customer cancelled it. @returns undefined when it has ended already, or is unknown */
  async cancel(id: RetryId): Promise<RetryJob | undefined> {
    const { store, clock, meter } = this.#ports;
    let isInterrupted = false;
    const decide = ({ job, secrets }: RetryRecord): RetryChange | undefined => {
      isInterrupted = openAttempt(job) !== undefined;
      return this.#ended(job, cancel(job, clock.nowMs()), secrets);
    };
    const recorded = await (store.updateByCustomer?.(id, decide) ?? store.update(id, decide));
    if (isInterrupted) meter.countAttempt('interrupted');
    return recorded?.job;
  }

  /**
   * A job whose deadline passes while it waits for its turn is not sent: its next step is its expiry.
   * @returns false when the signal or the record prevented sending, so that nothing more is to be done now
   */
  async #attempt({ job, secrets }: DueRecord, signal: AbortSignal): Promise<boolean> {
    const { store, clock, meter, timers } = this.#ports;
    const { id, customer, policy } = job;
    const { request } = this.#secretsOf(job, secrets);
    if (request === null) throw new Error('a job that goes on without its request');
    const { url, method, body } = request;
    let isOnRecord = false;
    const expired = new AbortController();
    const stopExpiry = timers.after(job.expiresAtMs - clock.nowMs(), () => expired.abort());
    const start = async (): Promise<void> => {
      stopExpiry();
      await this.#record(id, (record) => this.#started(record.job));
      isOnRecord = true;
      meter.running++;
    };
    const answered = await this.#send('retry', url, {
      method,
      headers: attemptHeaders(id, job.attempts.length + 1, request),
      body: body === null ? null : encodeUtf8(body),
      timeoutMs: policy.attemptTimeoutSeconds * 1000,
      customer,
      signal: AbortSignal.any([signal, expired.signal]),
      onSent: start,
    }).finally(() => {
      stopExpiry();
      if (isOnRecord) meter.running--;
    });
    if (answered === undefined) return false;
    if (!isOnRecord) {
      if (answered.kind === 'aborted') return clock.nowMs() >= job.expiresAtMs;
      // It ended before anything could be sent: a name that does not resolve, an address that is not allowed.
      if ((await store.update(id, (record) => this.#started(record.job))) === undefined) return false;
    }
    const { end, body: answerBody } = attemptEndOf(answered, clock.nowMs());
    await this.#end(id, end, answerBody);
    this.#underWay.delete(id);
    return true;
  }

  /** Records what is about to be sent. @throws NotSentError when it must not be sent */
  async #record(id: RetryId, decide: (record: RetryRecord) => RetryChange | undefined): Promise<RetryRecord> {
    if (this.isDraining) throw new NotSentError('the server stops');
    this.#underWay.add(id);
    const recorded = await this.#ports.store.update(id, decide);
    if (recorded !== undefined) return recorded;
    throw new NotSentError('the record does not permit it');
  }

  #started(job: RetryJob): RetryChange | undefined {
    const started = startAttempt(job, this.#ports.clock.nowMs());
    return started && { job: started, attemptsMade: 1 };
  }

  async #end(id: RetryId, end: AttemptEnd, body: string | null): Promise<void> {
    const { store, clock, meter } = this.#ports;
    const draw = drawFrom(this.#ports.random);
    const ended = await store.update(id, ({ job, secrets }) =>
      this.#ended(job, endAttempt(job, end, clock.nowMs(), draw), secrets, body),
    );
    if (ended !== undefined) meter.countAttempt(end.outcome);
  }

  /** The change to a job that may have ended; then its request is dropped and its result's body is stored. */
  #ended(
    before: RetryJob,
    after: RetryJob | undefined,
    secrets: Uint8Array | null,
    body: string | null = null,
  ): RetryChange | undefined {
    if (after === undefined) return undefined;
    if (!hasEnded(after)) return { job: after };
    const { callback } = this.#secretsOf(before, secrets);
    const { sealer } = this.#ports;
    return {
      job: after,
      secrets: callback === null ? null : sealer.seal(after.id, secretsText({ request: null, callback })),
      resultBody: body === null ? null : sealer.seal(after.id, body),
    };
  }

  async #deliver({ job, secrets }: DueRecord, signal: AbortSignal): Promise<boolean> {
    const { clock } = this.#ports;
    const { callback } = this.#secretsOf(job, secrets);
    if (callback === null) throw new Error('a delivery without its address');
    let started: RetryRecord | undefined;
    const start = async (): Promise<void> => {
      started = await this.#record(job.id, (record) => {
        const delivery = record.job.delivery && startDelivery(record.job.delivery, clock.nowMs());
        return delivery ? { job: withDelivery(record.job, delivery) } : undefined;
      });
    };
    const answered = await this.#send('delivery', callback.url, {
      method: 'POST',
      headers: [],
      body: null,
      timeoutMs: DELIVERY_TIMEOUT_MS,
      customer: job.customer,
      signal,
      onSent: start,
      // Made in its turn, because the event may be long and its signature contains the time.
      partsInTurn: () => this.#signedEvent(started, callback.secret),
    });
    if (answered === undefined) return false;
    if (started === undefined && (answered.kind === 'aborted' || !(await isPermitted(start)))) return false;
    await this.#endDelivery(job.id, answered.kind === 'answer' ? answered.status : null);
    return true;
  }

  #signedEvent(record: RetryRecord | undefined, secret: string): SentParts {
    if (record === undefined) throw new Error('a delivery that is not on record');
    const { job, resultBody } = record;
    const { clock, sealer } = this.#ports;
    const event = completionEvent(job, resultBody === null ? null : sealer.open(job.id, resultBody));
    const headers = signedHeaders(eventIdOf(job), secret, event, clock.nowMs());
    return { headers, body: encodeUtf8(event) };
  }

  async #endDelivery(id: RetryId, statusCode: number | null): Promise<void> {
    const { store, clock, meter } = this.#ports;
    const ended = await store.update(id, ({ job }) => {
      const delivery = job.delivery && endDelivery(job.delivery, statusCode, clock.nowMs());
      if (!delivery) return undefined;
      return {
        job: withDelivery(job, delivery),
        ...(isDeliveryOver(delivery) && { secrets: null }),
        ...(delivery.status === 'delivered' && { callbacksDelivered: 1 }),
      };
    });
    if (ended?.job.delivery) meter.countDelivery(ended.job.delivery.status);
  }

  /** @returns undefined when the record did not permit it */
  async #send(
    purpose: Purpose,
    url: string,
    request: Omit<OutboundRequest, 'target' | 'wireBytesMax' | 'unpackedBytesMax'>,
  ): Promise<OutboundResult | undefined> {
    const { outbound } = this.#ports;
    const judged = outbound.policy.judge(url, purpose);
    if (!judged.ok) return { kind: 'blocked', detail: judged.reason, durationMs: 0 };
    const { target } = judged;
    try {
      return await outbound.send({
        ...request,
        target,
        wireBytesMax: WIRE_BYTES_MAX,
        unpackedBytesMax: UNPACKED_BYTES_MAX,
      });
    } catch (failure) {
      if (failure instanceof NotSentError) return undefined;
      throw failure;
    }
  }

  #secretsOf({ id }: RetryJob, secrets: Uint8Array | null): JobSecrets {
    return secrets === null ? NOTHING : secretsOf(this.#ports.sealer.open(id, secrets));
  }
}
