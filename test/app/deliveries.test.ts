import { beforeEach, describe, expect, it } from 'vitest';
import { Deliveries } from '../../src/app/deliveries.ts';
import { ManualTime } from '../support/manual-time.ts';

/** Two looks: the first one gives every answer its time. */
const LOOKED_MS = 400;

describe('the watch over paid answers', () => {
  let time: ManualTime;
  let deliveries: Deliveries;
  let delivered: string[];
  let failures: unknown[];
  beforeEach(() => {
    time = new ManualTime();
    delivered = [];
    failures = [];
    deliveries = new Deliveries(time, (failure) => failures.push(failure));
  });

  /** Of a listener that hears nothing of answers that left. */
  function watch(name: string, signal?: AbortSignal): void {
    deliveries.watch({ onDelivered: () => false, signal }, () => delivered.push(name));
  }

  it('takes an answer as delivered whose client was there a moment later', () => {
    const here = new AbortController();
    watch('here', here.signal);
    watch('without a client');
    time.pass(LOOKED_MS - 1);
    expect(delivered).toEqual([]);
    time.pass(1);
    expect(delivered).toEqual(['here', 'without a client']);
    here.abort();
    time.pass(LOOKED_MS);
    expect([delivered.length, time.pendingCount]).toEqual([2, 0]);
  });

  it.each([
    { whenMs: 0, because: 'its client had gone before' },
    { whenMs: LOOKED_MS - 1, because: 'its client went away meanwhile' },
  ])('never takes one as delivered of which $because', ({ whenMs }) => {
    const gone = new AbortController();
    watch('gone', gone.signal);
    time.pass(whenMs);
    gone.abort();
    time.pass(LOOKED_MS);
    expect([delivered, time.pendingCount]).toEqual([[], 0]);
  });

  it('looks at all of them when it is closed', () => {
    const gone = AbortSignal.abort();
    watch('earlier');
    time.pass(LOOKED_MS / 2);
    watch('fresh');
    watch('gone', gone);
    deliveries.close();
    expect([delivered, time.pendingCount]).toEqual([['earlier', 'fresh'], 0]);
  });

  it('leaves it to a listener that hears of it', () => {
    let left = (): void => {};
    const onDelivered = (listener: () => void): boolean => {
      left = listener;
      return true;
    };
    deliveries.watch({ onDelivered, signal: undefined }, () => delivered.push('heard'));
    time.pass(LOOKED_MS);
    expect([delivered, time.pendingCount]).toEqual([[], 0]);
    left();
    expect(delivered).toEqual(['heard']);
  });

  it('reports what goes wrong, and goes on', () => {
    const fail = (): void => {
      throw new Error('the books');
    };
    deliveries.watch({ onDelivered: () => false, signal: undefined }, fail);
    watch('next');
    deliveries.watch({ onDelivered: (listener) => [listener()].length > 0, signal: undefined }, fail);
    time.pass(LOOKED_MS);
    expect(failures.map((failure) => (failure as Error).message)).toEqual(['the books', 'the books']);
    expect(delivered).toEqual(['next']);
  });
});
