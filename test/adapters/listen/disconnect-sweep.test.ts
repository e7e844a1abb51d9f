import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DisconnectSweep } from '../../../src/adapters/listen/disconnect-sweep.ts';

class Watched {
  isOver = false;
  callCount = 0;
  readonly controller = new AbortController();

  handleEvent(): void {
    this.callCount++;
  }
}

describe('the sweep over held requests', () => {
  let sweep: DisconnectSweep;
  beforeEach(() => {
    vi.useFakeTimers();
    sweep = new DisconnectSweep();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const watched = (): Watched => {
    const one = new Watched();
    sweep.watch(one.controller.signal, one);
    return one;
  };

  it('calls each listener whose signal aborted, once, and no other', () => {
    const [gone, held] = [watched(), watched()];
    gone.controller.abort();
    expect(gone.callCount).toBe(0);
    vi.advanceTimersByTime(500);
    expect([gone.callCount, held.callCount]).toEqual([1, 0]);
    vi.advanceTimersByTime(5_000);
    expect([gone.callCount, held.callCount]).toEqual([1, 0]);
    held.controller.abort();
    vi.advanceTimersByTime(500);
    expect(held.callCount).toBe(1);
  });

  it('drops a listener that is over, and stops its timer when none is left', () => {
    const one = watched();
    expect(vi.getTimerCount()).toBe(1);
    one.isOver = true;
    one.controller.abort();
    vi.advanceTimersByTime(500);
    expect([one.callCount, vi.getTimerCount()]).toEqual([0, 0]);
    watched();
    expect(vi.getTimerCount()).toBe(1);
  });

  it('keeps a request that a listener adds during the sweep', () => {
    const late = new Watched();
    const first = watched();
    first.handleEvent = () => sweep.watch(late.controller.signal, late);
    first.controller.abort();
    vi.advanceTimersByTime(500);
    late.controller.abort();
    vi.advanceTimersByTime(500);
    expect(late.callCount).toBe(1);
  });
});
