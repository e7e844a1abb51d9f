/**
 * Retry jobs as operations see them (siblings §6): creation with its idempotency, reading, cancelling, usage. The worker does the
 * rest.
 */
import type { Clock } from '../base/clock.ts';
import { sha256Base64Url, sha256Latin1 } from '../base/digest.ts';
import type { Random } from '../base/random.ts';
import type { Timers } from '../base/timers.ts';
import { newCallbackSecret, newReadToken, newRetryId, type RetryId, tokenDigestOf } from './identifier.ts';
import { type IdempotencyClaim, isReadable, newJob, type RetryJob } from './job.ts';
import { CLAIM_PAUSE_MS, CLAIM_WAIT_MS_MAX } from './limits.ts';
import type { RetryPolicy } from './policy.ts';
import type { Sealer } from './sealer.ts';
import { type CustomerRequest, secretsText } from './secrets.ts';
import type { Bought, RetryRecord, RetryStore, RetryUsage } from './store.ts';
import type { RetryWorker } from './worker.ts';

/** What a customer asks for. */
export interface RetryOrder {
  readonly request: CustomerRequest;
  readonly policy: RetryPolicy;
  readonly callbackUrl: string | null;
  readonly deadlineSeconds: number;
}

/** The customer who creates a job. */
export interface RetryCustomer {
  /** As `RetryJob.customer`. */
  readonly customer: string;
  /** null for a payer. */
  readonly organization: string | null;
}

/** What a job's answer shows only once. Plain JSON, from which the same job can be created again. */
export interface RetryDraft {
  readonly id: RetryId;
  /** null for a job of an organization. */
  readonly readToken: string | null;
  /** null without a callback address. */
  readonly callbackSecret: string | null;
  /** The idempotency key under which the job was bought; it stays the job's, whichever request creates the job. */
  readonly idempotency: IdempotencyClaim | null;
}

export type ClaimResult =
  /** The key was free; this request holds it until it calls `release`. */
  | { readonly kind: 'claimed'; readonly claim: IdempotencyClaim; release(): void }
  | { readonly kind: 'existing'; readonly job: RetryJob }
  | { readonly kind: 'conflict' }
  /** Another request has held the key for {@link CLAIM_WAIT_MS_MAX}. */
  | { readonly kind: 'under-way' };

interface KeyClaim {
  readonly ended: Promise<void>;
  /** Name of this claim among all processes; undefined = the claim is local to this process. */
  shared: string | undefined;
  release(): void;
}

export interface RetriesPorts {
  readonly store: RetryStore;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: Timers;
  readonly worker: RetryWorker;
}

export class Retries {
  readonly #ports: RetriesPorts;
  /** Idempotency keys whose request is in flight. */
  readonly #claims = new Map<string, KeyClaim>();

  constructor(ports: RetriesPorts) {
    this.#ports = ports;
  }

  /**
   * Claims an idempotency key for one request. While another request holds it, this one waits for that request to end.
   * @param body the bytes of the request's body
   */
  async claim(customer: string, keyText: string, body: Uint8Array): Promise<ClaimResult> {
    const { store, clock } = this.#ports;
    const key = sha256Base64Url(`${customer}\n${keyText}`);
    const fingerprint = Buffer.from(sha256Latin1(body), 'latin1').toString('base64url');
    const deadlineMs = clock.monotonicMs() + CLAIM_WAIT_MS_MAX;
    for (let other = this.#claims.get(key); other !== undefined; other = this.#claims.get(key)) {
      if (!(await this.#endsBy(deadlineMs, other))) return { kind: 'under-way' };
    }
    const release = this.#claimed(key);
    try {
      if (!(await this.#claimShared(key, deadlineMs))) {
        release();
        return { kind: 'under-way' };
      }
      const job = await store.findByKey(key);
      const isGone = job !== undefined && !isReadable(job, clock.nowMs());
      if (isGone) await store.remove(job.id);
      if (job === undefined || isGone) return { kind: 'claimed', claim: { key, fingerprint }, release };
      release();
      return job.idempotency?.fingerprint === fingerprint ? { kind: 'existing', job } : { kind: 'conflict' };
    } catch (failure) {
      release();
      throw failure;
    }
  }

  /** Whether a claim ends before the deadline. */
  #endsBy(deadlineMs: number, { ended }: KeyClaim): Promise<boolean> {
    const { clock, timers } = this.#ports;
    return new Promise((resolve) => {
      const stopTimer = timers.after(deadlineMs - clock.monotonicMs(), () => resolve(false));
      void ended.then(() => {
        stopTimer();
        resolve(true);
      });
    });
  }

  /** Waits for the end of a request in another process that holds the key. @returns false when it does not end by the deadline */
  async #claimShared(key: string, deadlineMs: number): Promise<boolean> {
    const { store, clock, random, timers } = this.#ports;
    const local = this.#claims.get(key);
    if (store.claimKey === undefined || local === undefined) return true;
    local.shared = random.uuid();
    while (!(await store.claimKey(key, local.shared))) {
      if (clock.monotonicMs() + CLAIM_PAUSE_MS > deadlineMs) return false;
      await new Promise<void>((resolve) => timers.after(CLAIM_PAUSE_MS, resolve));
    }
    return true;
  }

  #claimed(key: string): () => void {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const release = (): void => {
      if (this.#claims.get(key) === claim) {
        this.#claims.delete(key);
        // A claim whose release fails ends by itself.
        if (claim.shared !== undefined) this.#ports.store.releaseKey?.(key, claim.shared).catch(() => {});
      }
      end();
    };
    const claim: KeyClaim = { ended, shared: undefined, release };
    this.#claims.set(key, claim);
    return release;
  }

  /** The purchase key of an idempotency key. */
  purchaseKeyOf(idempotencyKey: string): string {
    return this.#ports.sealer.purchaseKeyOf(idempotencyKey);
  }

  draft(
    { organization }: RetryCustomer,
    { callbackUrl }: RetryOrder,
    idempotency: IdempotencyClaim | null,
  ): RetryDraft {
    const { random } = this.#ports;
    return {
      id: newRetryId(random),
      readToken: organization === null ? newReadToken(random) : null,
      callbackSecret: callbackUrl === null ? null : newCallbackSecret(random),
      idempotency,
    };
  }

  /**
   * Creates the job of a draft, or returns it if it exists already. Its first attempt is due at once. The job is paid for, so
   * if another process took this one for dead and created another job under the idempotency key, this job is created without
   * the key.
   * @param idempotency the request's claim; used for the job if its draft has none. It ends on rejection; otherwise the request
   *   ends it once its answer is ready
   */
  create(
    draft: RetryDraft,
    customer: RetryCustomer,
    order: RetryOrder,
    idempotency: IdempotencyClaim | null,
  ): Promise<RetryJob> {
    const record = this.#recordOf(draft, customer, order, idempotency);
    return this.#made(async () => {
      const { job } = record;
      const created = await this.#ports.store.create(record);
      if (created.kind === 'created') return job;
      if (created.job.id === job.id) return created.job;
      return this.create({ ...draft, idempotency: null }, customer, order, null);
    }).catch((failure: unknown) => {
      this.#endClaim(idempotency);
      throw failure;
    });
  }

  /** The same for an organization that pays credits. @returns the outcome, and the job, which exists if it was charged */
  buy(
    draft: RetryDraft,
    customer: RetryCustomer,
    order: RetryOrder,
    idempotency: IdempotencyClaim | null,
    credits: number,
  ): Promise<{ readonly bought: Bought; readonly job: RetryJob }> {
    const record = this.#recordOf(draft, customer, order, idempotency);
    return this.#made(async () => ({
      bought: await this.#ports.store.buy(record, credits),
      job: record.job,
    })).finally(() => this.#endClaim(idempotency));
  }

  /** Creates a job and wakes the worker. */
  async #made<T>(making: () => Promise<T>): Promise<T> {
    try {
      return await making();
    } finally {
      this.#ports.worker.wake();
    }
  }

  #endClaim(idempotency: IdempotencyClaim | null): void {
    if (idempotency !== null) this.#claims.get(idempotency.key)?.release();
  }

  #recordOf(
    { id, readToken, callbackSecret, idempotency }: RetryDraft,
    { customer, organization }: RetryCustomer,
    { request, policy, callbackUrl, deadlineSeconds }: RetryOrder,
    claimed: IdempotencyClaim | null,
  ): RetryRecord {
    const { sealer, clock } = this.#ports;
    const callback =
      callbackUrl === null || callbackSecret === null ? null : { url: callbackUrl, secret: callbackSecret };
    const job = newJob(
      {
        id,
        customer,
        organization,
        tokenDigest: readToken === null ? null : tokenDigestOf(readToken),
        idempotency: idempotency ?? claimed,
        policy,
        deadlineSeconds,
        hasCallback: callback !== null,
      },
      clock.nowMs(),
    );
    return { job, secrets: sealer.seal(id, secretsText({ request, callback })), resultBody: null };
  }

  /** A job that its customer can still read. */
  async find(id: RetryId): Promise<RetryJob | undefined> {
    return (await this.#readable(id))?.job;
  }

  /** The same, with the JSON text of its result's body. */
  async read(id: RetryId): Promise<{ readonly job: RetryJob; readonly resultBody: string | null } | undefined> {
    const record = await this.#readable(id);
    if (record === undefined) return undefined;
    const { job, resultBody } = record;
    return { job, resultBody: resultBody === null ? null : this.#ports.sealer.open(id, resultBody) };
  }

  async #readable(id: RetryId): Promise<RetryRecord | undefined> {
    const { store, clock } = this.#ports;
    const record = await store.find(id);
    return record !== undefined && isReadable(record.job, clock.nowMs()) ? record : undefined;
  }

  /** @returns the cancelled job; undefined for one that has ended */
  async cancel(id: RetryId): Promise<RetryJob | undefined> {
    const { worker } = this.#ports;
    const cancelled = await worker.runner.cancel(id);
    if (cancelled === undefined) return undefined;
    worker.abandon(id);
    worker.wake();
    return cancelled;
  }

  usage(organization: string, monthMs: number): Promise<RetryUsage> {
    return this.#ports.store.usage(organization, monthMs);
  }
}
