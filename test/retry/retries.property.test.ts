/**
 * Whole lives of retry jobs on virtual time, under kills, slow, silent and refusing targets and cancels (siblings §6): at least once,
 * never more often than `max_attempts`, never two at a time, every job ends and every delivery with it, and nothing stays behind.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OutboundResult } from '../../src/outbound/outbound.ts';
import { eventIdOf } from '../../src/retry/completion-event.ts';
import type { RetryId } from '../../src/retry/identifier.ts';
import { hasEnded, type RetryJob } from '../../src/retry/job.ts';
import { DELIVERY_PAUSES_MS, KEPT_MS } from '../../src/retry/limits.ts';
import type { RetryPolicy } from '../../src/retry/policy.ts';
import type { RetryOrder } from '../../src/retry/retries.ts';
import { Chance } from '../support/chance.ts';
import { answer, failure, type TargetBehaviour } from '../support/targets-by-host.ts';
import { partOf } from '../support/whole.ts';
import { RetryWorld } from './model.ts';

const TARGETS = ['good', 'busy', 'gone', 'late', 'mixed', 'rude'] as const;

/** The requests that are under way now, and all that came, by job. */
class TargetLog {
  readonly numbers = new Map<string, number[]>();
  readonly #open = new Map<string, number>();
  readonly overlaps: string[] = [];
  readonly #inner: TargetBehaviour;

  constructor(inner: TargetBehaviour) {
    this.#inner = inner;
  }

  readonly behave: TargetBehaviour = async (request, number, signal) => {
    // An attempt of a job, or a try of its delivery.
    const id = request.headers['x-retry-id'] ?? request.headers['webhook-id'] ?? '';
    const seen = this.numbers.get(id) ?? [];
    this.numbers.set(id, [...seen, Number(request.headers['x-retry-attempt'] ?? seen.length + 1)]);
    const open = (this.#open.get(id) ?? 0) + 1;
    if (open > 1) this.overlaps.push(id);
    this.#open.set(id, open);
    const ended = await this.#inner(request, number, signal);
    this.#open.set(id, (this.#open.get(id) ?? 1) - 1);
    return ended;
  };
}

function behaviourOf(name: (typeof TARGETS)[number], world: RetryWorld, chance: Chance): TargetBehaviour {
  const answers: Readonly<Record<(typeof TARGETS)[number], () => OutboundResult>> = {
    good: () => answer(200, '{"ok":true}', { 'content-type': 'application/json' }),
    busy: () => answer(503, '', { 'retry-after': String(chance.below(9)) }),
    gone: () => answer(404, 'no'),
    late: () => failure('timeout'),
    mixed: () => (chance.below(3) === 0 ? answer(201) : answer(500)),
    rude: () => failure(chance.below(2) === 0 ? 'tls-error' : 'too-large'),
  };
  return (_request, _number, signal) =>
    new Promise((resolve) => {
      const cancel = world.time.after(chance.below(4000), () => resolve(answers[name]()));
      signal?.addEventListener('abort', () => {
        cancel();
        resolve(failure('aborted'));
      });
    });
}

function orderOf(chance: Chance): RetryOrder {
  const policy: RetryPolicy = {
    maxAttempts: 1 + chance.below(10),
    backoff: chance.below(2) === 0 ? 'fixed' : 'exponential',
    initialDelaySeconds: 1 + chance.below(5),
    maxDelaySeconds: 1 + chance.below(20),
    jitter: chance.below(2) === 0,
    attemptTimeoutSeconds: 15,
    retryStatuses: [500, 503],
    respectRetryAfter: chance.below(2) === 0,
  };
  const host = `${TARGETS[chance.below(TARGETS.length)]}.example`;
  return {
    request: { method: 'POST', url: `https://${host}/`, headers: [['x-secret', 'hidden-words']], body: 'hidden-words' },
    policy,
    callbackUrl: chance.below(3) === 0 ? null : `https://${chance.below(2) === 0 ? 'good' : 'busy'}.example/hook`,
    deadlineSeconds: 60 + chance.below(60),
  };
}

interface Life {
  readonly jobs: readonly RetryJob[];
  readonly log: TargetLog;
  readonly cancelled: ReadonlySet<RetryId>;
}

async function live(world: RetryWorld, seed: number): Promise<Life> {
  const chance = new Chance(seed);
  const logs = new TargetLog((request, number, signal) => {
    const name = new URL(request.url).hostname.split('.')[0] as (typeof TARGETS)[number];
    return behaviourOf(name, world, chance)(request, number, signal);
  });
  for (const name of TARGETS) world.outbound.target(`${name}.example`, logs.behave);
  const ids: RetryId[] = [];
  const cancelled = new Set<RetryId>();
  for (let i = 0; i < 12; i++) {
    ids.push(await world.create(orderOf(chance)));
    await world.pass(chance.below(3000));
    if (chance.below(4) === 0) world.kill();
    if (chance.below(6) === 0) {
      const id = ids[chance.below(ids.length)]!;
      if ((await world.process.retries.cancel(id)) !== undefined) cancelled.add(id);
    }
  }
  // Longer than any deadline and all tries of a delivery.
  await world.pass(180_000);
  await world.pass(900_000, 5000);
  const jobs = await Promise.all(ids.map(async (id) => (await world.process.retries.find(id))!));
  return { jobs, log: logs, cancelled };
}

function expectWhole({ jobs, log, cancelled }: Life): void {
  expect(log.overlaps).toEqual([]);
  for (const job of jobs) {
    const numbers = log.numbers.get(job.id) ?? [];
    expect(hasEnded(job)).toBe(true);
    expect(job.attempts.length).toBeLessThanOrEqual(job.policy.maxAttempts);
    // What a target saw is on record, each attempt once; a kill may have come between record and request.
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(numbers.every((number) => number >= 1 && number <= job.attempts.length)).toBe(true);
    if (!cancelled.has(job.id)) expect(job.attempts.length).toBeGreaterThan(0);
    expect(job.attempts.every(({ outcome }) => outcome !== null)).toBe(true);
    expect(job.status === 'succeeded').toBe(job.attempts.at(-1)?.outcome === 'success');
    expect(job.status === 'cancelled').toBe(cancelled.has(job.id));
    const tries = (log.numbers.get(eventIdOf(job)) ?? []).length;
    expect(tries).toBeLessThanOrEqual(job.delivery === null ? 0 : DELIVERY_PAUSES_MS.length);
    if (job.delivery === null) continue;
    expect(['delivered', 'failed']).toContain(job.delivery.status);
    expect(job.delivery.attemptCount).toBeGreaterThanOrEqual(tries);
    if (job.delivery.status === 'delivered') expect(tries).toBeGreaterThan(0);
  }
}

describe('retry jobs on virtual time', () => {
  it(
    'are sent at least once, at most max_attempts times, never twice at a time, and all end',
    () =>
      fc.assert(
        fc.asyncProperty(fc.integer({ min: 0, max: 1_000_000 }), async (seed) => {
          const world = new RetryWorld(seed);
          try {
            const lived = await live(world, seed);
            expectWhole(lived);
            expect(world.failures).toEqual([]);
            expect(world.dump()).not.toContain('hidden-words');
            await world.pass(KEPT_MS, 600_000);
            await world.pass(120_000, 30_000);
            expect(world.jobCount).toBe(0);
          } finally {
            world.close();
          }
        }),
        { numRuns: partOf(12, 3) },
      ),
    60_000,
  );
});
