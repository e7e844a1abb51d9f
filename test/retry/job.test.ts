/** The steps of a job and of its delivery at the boundaries that decide how often something is sent, and until when (siblings §6). */
import { describe, expect, it } from 'vitest';
import { endDelivery, NEW_DELIVERY, startDelivery } from '../../src/retry/delivery.ts';
import type { RetryId } from '../../src/retry/identifier.ts';
import {
  type AttemptEnd,
  cancel,
  endAttempt,
  expire,
  isReadable,
  newJob,
  type RetryJob,
  startAttempt,
  stepOf,
  withDelivery,
} from '../../src/retry/job.ts';
import { DEFAULT_POLICY, type RetryPolicy } from '../../src/retry/policy.ts';

const START_MS = Date.UTC(2026, 10, 20, 12);
const DEADLINE_MS = START_MS + 60_000;
const KEPT_MS = 24 * 3_600_000;

const jobWith = (policy: Partial<RetryPolicy> = {}, hasCallback = false): RetryJob =>
  newJob(
    {
      id: `rt_${'a'.repeat(24)}` as RetryId,
      customer: 'org:acme',
      organization: 'acme',
      tokenDigest: null,
      idempotency: null,
      policy: { ...DEFAULT_POLICY, backoff: 'fixed', jitter: false, ...policy },
      deadlineSeconds: 60,
      hasCallback,
    },
    START_MS,
  );

const RESULT = { statusCode: 503, contentType: null, sizeBytes: 0, isTruncated: false };

const endWith = (changes: Partial<AttemptEnd> = {}): AttemptEnd => ({
  outcome: 'http_error',
  durationMs: 5,
  statusCode: 503,
  retryAfterSeconds: null,
  result: RESULT,
  ...changes,
});

const started = (job: RetryJob, nowMs: number): RetryJob => startAttempt(job, nowMs) ?? expect.fail('not started');
const ended = (job: RetryJob, nowMs: number, end = endWith()): RetryJob =>
  endAttempt(job, end, nowMs, 0) ?? expect.fail('not ended');

describe('the deadline of a job', () => {
  it('is the first moment at which nothing more is sent', () => {
    const job = jobWith();
    expect(stepOf(job, DEADLINE_MS - 1)).toBe('attempt');
    expect(startAttempt(job, DEADLINE_MS - 1)).toMatchObject({
      ...{ status: 'running', updatedAtMs: DEADLINE_MS - 1, nextAttemptAtMs: null },
      // So that the next start finds it at once, if a kill interrupts it.
      dueAtMs: DEADLINE_MS - 1,
    });
    expect(expire(job, DEADLINE_MS - 1)).toBeUndefined();
    expect(stepOf(job, DEADLINE_MS)).toBe('expire');
    expect(startAttempt(job, DEADLINE_MS)).toBeUndefined();
    expect(expire(job, DEADLINE_MS)).toMatchObject({
      status: 'expired',
      failure: { code: 'DEADLINE_EXCEEDED' },
      endedAtMs: DEADLINE_MS,
    });
  });

  it('leaves an attempt that is under way to its end, and a job that has ended as it is', () => {
    const running = started(jobWith(), DEADLINE_MS - 1);
    expect(expire(running, DEADLINE_MS)).toBeUndefined();
    const cancelled = cancel(running, DEADLINE_MS - 1)!;
    expect(expire(cancelled, DEADLINE_MS)).toBeUndefined();
    expect(startAttempt(cancelled, DEADLINE_MS - 1)).toBeUndefined();
    expect(cancel(cancelled, DEADLINE_MS)).toBeUndefined();
  });

  it.each([
    ['a pause that ends before it', DEADLINE_MS - 5001, 'waiting', DEADLINE_MS - 1, DEADLINE_MS - 1],
    ['a pause that ends at it: there is no next attempt', DEADLINE_MS - 5000, 'waiting', null, DEADLINE_MS],
    ['a pause that ends after it', DEADLINE_MS - 1, 'waiting', null, DEADLINE_MS],
    ['an attempt that ends at it', DEADLINE_MS, 'expired', null, DEADLINE_MS + KEPT_MS],
  ] as const)('decides after %s', (_, nowMs, status, nextAttemptAtMs, dueAtMs) => {
    const job = ended(started(jobWith(), START_MS), nowMs);
    const result = status === 'expired' ? RESULT : null;
    expect(job).toMatchObject({ status, updatedAtMs: nowMs, nextAttemptAtMs, dueAtMs, result });
    expect(job.attempts).toMatchObject([{ number: 1, outcome: 'http_error', nextAttemptAtMs }]);
  });
});

describe('the attempts of a job', () => {
  it('are as many as its policy permits, and one at a time', () => {
    let job = jobWith({ maxAttempts: 2 });
    for (const number of [1, 2]) {
      job = started(job, START_MS);
      expect(job.attempts.at(-1)).toMatchObject({ number, outcome: null });
      expect(startAttempt(job, START_MS)).toBeUndefined();
      job = ended(job, START_MS);
    }
    expect(job).toMatchObject({ status: 'failed', failure: { code: 'ATTEMPTS_EXHAUSTED' }, result: RESULT });
    expect(startAttempt({ ...job, status: 'waiting', endedAtMs: null }, START_MS)).toBeUndefined();
  });

  it('come when their pause is over; one that is under way and nobody holds was interrupted', () => {
    const running = started(jobWith(), START_MS);
    expect(stepOf(running, START_MS)).toBe('interrupt');
    expect(stepOf(running, DEADLINE_MS)).toBe('interrupt');
    const waiting = ended(running, START_MS);
    expect(stepOf(waiting, START_MS + 4999)).toBe('none');
    expect(stepOf(waiting, START_MS + 5000)).toBe('attempt');
    const last = ended(running, DEADLINE_MS - 1);
    expect(stepOf(last, DEADLINE_MS - 1)).toBe('none');
  });

  it('come after pauses that double where the policy says so', () => {
    let job = jobWith({ backoff: 'exponential' });
    for (const [nowMs, nextAttemptAtMs] of [
      [START_MS, START_MS + 5000],
      [START_MS + 5000, START_MS + 15_000],
      [START_MS + 15_000, START_MS + 35_000],
    ] as const) {
      job = ended(started(job, nowMs), nowMs);
      expect(job.nextAttemptAtMs).toBe(nextAttemptAtMs);
    }
    expect(cancel(job, START_MS + 20_000)?.nextAttemptAtMs).toBeNull();
  });

  it.each([
    [endWith({ outcome: 'success', statusCode: 200 }), 'succeeded', undefined],
    [endWith({ outcome: 'blocked', statusCode: null, result: null }), 'failed', 'TARGET_NOT_ALLOWED'],
    [endWith({ outcome: 'response_too_large', statusCode: null, result: null }), 'failed', 'RESPONSE_TOO_LARGE'],
    [endWith({ statusCode: 404 }), 'failed', 'HTTP_ERROR'],
    [endWith({ statusCode: 302 }), 'failed', 'HTTP_ERROR'],
    [endWith({ statusCode: 503 }), 'waiting', undefined],
    [endWith({ outcome: 'timeout', statusCode: null, result: null }), 'waiting', undefined],
    [endWith({ outcome: 'connection_error', statusCode: null, result: null }), 'waiting', undefined],
    [endWith({ outcome: 'interrupted', statusCode: null, result: null }), 'waiting', undefined],
  ] as const)('go on after %j: %s', (end, status, code) => {
    const job = ended(started(jobWith(), START_MS), START_MS, end);
    expect(job.status).toBe(status);
    expect(job.failure?.code).toBe(code);
    expect(job.result).toBe(status === 'waiting' ? null : end.result);
    expect(endAttempt(job, end, START_MS, 0)).toBeUndefined();
  });

  it('that a cancel interrupts has the time that it took, and those before it stay', () => {
    const job = cancel(started(ended(started(jobWith(), START_MS), START_MS), START_MS), START_MS + 70);
    expect(job).toMatchObject({ status: 'cancelled', result: null, failure: null });
    expect(job?.attempts).toMatchObject([
      { number: 1, outcome: 'http_error' },
      { number: 2, startedAtMs: START_MS, outcome: 'interrupted', durationMs: 70 },
    ]);
    expect(cancel(started(jobWith(), START_MS), START_MS - 70)?.attempts).toMatchObject([{ durationMs: 0 }]);
  });
});

describe('an ended job', () => {
  it('is readable for 24 hours, and removed at their end', () => {
    expect([jobWith().status, isReadable(jobWith(), START_MS + 2 * KEPT_MS)]).toEqual(['scheduled', true]);
    const job = cancel(jobWith(), START_MS)!;
    expect(job.dueAtMs).toBe(START_MS + KEPT_MS);
    expect(isReadable(job, START_MS + KEPT_MS - 1)).toBe(true);
    expect(stepOf(job, START_MS + KEPT_MS - 1)).toBe('none');
    expect(isReadable(job, START_MS + KEPT_MS)).toBe(false);
    expect(stepOf(job, START_MS + KEPT_MS)).toBe('remove');
  });

  it('has its event sent at once and 5 s, 30 s, 2 min and 10 min after the try before, and then never again', () => {
    let job = cancel(jobWith({}, true), START_MS)!;
    let nowMs = START_MS;
    for (const [index, pauseMs] of [0, 5000, 30_000, 120_000, 600_000].entries()) {
      nowMs += pauseMs;
      expect(job.dueAtMs).toBe(nowMs);
      if (pauseMs > 0) expect(stepOf(job, nowMs - 1)).toBe('none');
      expect(stepOf(job, nowMs)).toBe('deliver');
      const trying = startDelivery(job.delivery!, nowMs)!;
      expect(trying).toMatchObject({ status: 'delivering', attemptCount: index + 1, lastAttemptAtMs: nowMs });
      expect(startDelivery(trying, nowMs)).toBeUndefined();
      job = withDelivery(job, trying);
      expect(stepOf(job, nowMs)).toBe('interrupt-delivery');
      job = withDelivery(job, endDelivery(trying, 500, nowMs)!);
      expect(endDelivery(job.delivery!, 200, nowMs)).toBeUndefined();
    }
    expect(job).toMatchObject({ delivery: { status: 'failed', lastStatusCode: 500 }, dueAtMs: START_MS + KEPT_MS });
    expect(startDelivery(job.delivery!, nowMs)).toBeUndefined();
    expect(stepOf(job, nowMs)).toBe('none');
  });

  it.each([
    [199, false],
    [200, true],
    [299, true],
    [300, false],
    [null, false],
  ])('has told its callback with the answer %s: %s', (statusCode, isDelivered) => {
    const tried = startDelivery(NEW_DELIVERY, START_MS)!;
    expect(endDelivery(tried, statusCode, START_MS + 9)).toMatchObject({
      status: isDelivered ? 'delivered' : 'delivering',
      deliveredAtMs: isDelivered ? START_MS + 9 : null,
      nextAttemptAtMs: isDelivered ? null : START_MS + 9 + 5000,
      lastStatusCode: statusCode,
    });
  });

  it('whose event was delivered sends no other, and goes after 24 hours', () => {
    const job = cancel(jobWith({}, true), START_MS)!;
    const delivered = endDelivery(startDelivery(job.delivery!, START_MS)!, 204, START_MS)!;
    expect(startDelivery(delivered, START_MS)).toBeUndefined();
    expect(withDelivery(job, { ...delivered, nextAttemptAtMs: START_MS })).toMatchObject({
      dueAtMs: START_MS + KEPT_MS,
    });
    expect(stepOf(withDelivery(job, delivered), START_MS + KEPT_MS - 1)).toBe('none');
  });

  it('is removed after 24 hours, although a try of its event is due later', () => {
    const job = cancel(jobWith({}, true), START_MS)!;
    const late = { ...job.delivery!, nextAttemptAtMs: START_MS + KEPT_MS + 1 };
    expect(withDelivery(job, late).dueAtMs).toBe(START_MS + KEPT_MS);
    expect(stepOf(withDelivery(job, late), START_MS + KEPT_MS)).toBe('remove');
  });
});
