/** What is measured, when, and what it comes to, on time and memory that the test owns. */
import { describe, expect, it } from 'vitest';
import { PressureSampler } from '../../../src/adapters/process/pressure-sampler.ts';
import { COLLECTION_PAUSE_MS, MEMORY_PAUSE_MS } from '../../../src/base/overload/limits.ts';
import { Overload } from '../../../src/base/overload/overload.ts';
import { ManualTime } from '../../support/manual-time.ts';
import { LIMIT_BYTES, PressedMemory } from '../../support/pressed-memory.ts';

/** @param isTurnOver the turn that starts the sampler has ended */
function opened(residentBytes = 0, isTurnOver = true) {
  const time = new ManualTime();
  const memory = new PressedMemory();
  memory.residentBytes = residentBytes;
  const overload = new Overload();
  const levels: number[] = [];
  const sampler = new PressureSampler({
    clock: time,
    timers: time,
    memory,
    memoryLimitBytes: LIMIT_BYTES,
    overload,
    onChange: () => levels.push(overload.level),
  });
  sampler.start();
  if (isTurnOver) time.pass(0);
  /** The loop runs nothing for so long. */
  const block = (ms: number): void => {
    time.areTimersStopped = true;
    time.pass(ms);
    time.areTimersStopped = false;
    time.pass(0);
  };
  return { time, memory, overload, levels, sampler, block };
}

describe('the pressure of memory', () => {
  it('is known from the start, and then within a quarter of a second', () => {
    const { time, memory, overload, levels } = opened(860);
    expect(overload.level).toBe(1);
    memory.residentBytes = 100;
    time.pass(MEMORY_PAUSE_MS + 20);
    expect(overload.level).toBe(0);
    memory.residentBytes = 930;
    time.pass(MEMORY_PAUSE_MS + 20);
    expect(levels).toEqual([1, 0, 2]);
    expect(overload).toMatchObject({ kind: 'memory', pressure: { memoryShare: 0.93, lateMs: 0 } });
  });

  it('is the larger of heap and resident memory', () => {
    const { time, memory, overload } = opened(100);
    memory.heap = { usedBytes: 88, limitBytes: 100 };
    time.pass(MEMORY_PAUSE_MS + 20);
    expect(overload.pressure.memoryShare).toBe(0.88);
    memory.residentBytes = 900;
    time.pass(MEMORY_PAUSE_MS + 20);
    expect(overload.pressure.memoryShare).toBe(0.9);
  });

  it('is no pressure where garbage is all of it: it is collected before a request is refused', () => {
    const { time, memory, levels } = opened(100);
    Object.assign(memory, { residentBytes: 950, garbageBytes: 300 });
    time.pass(MEMORY_PAUSE_MS + 20);
    expect([memory.collectionCount, levels]).toEqual([1, []]);
  });

  it('has garbage collected every ten seconds while overload lasts, and not below its end', () => {
    const { time, memory, overload } = opened(860);
    expect(memory.collectionCount).toBe(1);
    memory.residentBytes = 760;
    time.pass(COLLECTION_PAUSE_MS - MEMORY_PAUSE_MS);
    expect([memory.collectionCount, overload.level]).toEqual([1, 1]);
    time.pass(2 * MEMORY_PAUSE_MS);
    expect([memory.collectionCount, overload.level]).toEqual([2, 1]);
    memory.garbageBytes = 20;
    time.pass(COLLECTION_PAUSE_MS + MEMORY_PAUSE_MS);
    expect([memory.collectionCount, overload.level]).toEqual([3, 0]);
    time.pass(10 * COLLECTION_PAUSE_MS);
    expect(memory.collectionCount).toBe(3);
  });
});

describe('the pressure of the loop (reliability 212)', () => {
  it('leaves out the rest of the turn that starts the server, and nothing after it', () => {
    const { block, overload, sampler } = opened(0, false);
    block(900);
    expect([overload.level, sampler.lateMs(1)]).toEqual([0, 0]);
    block(900);
    expect(overload.level).toBe(1);
    expect(sampler.lateMs(1)).toBeCloseTo(880);
  });

  it('is noticed right after a block, and is over five seconds later', () => {
    const { time, overload, levels, sampler, block } = opened();
    time.pass(6_000);
    block(2_020);
    expect(overload).toMatchObject({ level: 2, kind: 'loop' });
    expect([0.5, 0.9, 1].map((share) => Math.round(sampler.lateMs(share)))).toEqual([0, 1_500, 2_000]);
    time.pass(5_000);
    expect([overload.level, sampler.lateMs(1)]).toEqual([0, 0]);
    expect(levels).toEqual([2, 1, 0]);
  });

  it.each([
    [150, 0],
    [250, 1],
    [540, 1],
    [600, 2],
  ])('turns of %d ms, one after the other, come to level %d', (turnMs, level) => {
    const { overload, block } = opened();
    for (let passedMs = 0; passedMs < 6_000; passedMs += turnMs) block(turnMs);
    expect(overload.level).toBe(level);
  });

  it('is nothing where timers fire a little late', () => {
    const { overload, sampler, block } = opened();
    for (let i = 0; i < 400; i++) block(21.5);
    expect([overload.pressure.lateMs, sampler.lateMs(1)]).toEqual([0, 0]);
  });
});

it('leaves no timer behind', () => {
  const { time, sampler } = opened();
  time.pass(1_000);
  expect(time.pendingCount).toBe(1);
  sampler.stop();
  expect(time.pendingCount).toBe(0);
});
