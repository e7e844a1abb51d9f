/** What stops a command, and whether it or the system handles the signals after the first. */
import { describe, expect, it } from 'vitest';
import type { SignalName } from '../../src/cli/io.ts';
import { type StopOptions, stopSignal } from '../../src/cli/stop-signal.ts';
import { settle } from '../support/manual-time.ts';
import { capturedIo } from './captured-io.ts';

/** @property caught the signals that the command handles now */
function opened(options?: StopOptions) {
  const handlers = new Map<SignalName, () => void>();
  const { io } = capturedIo({});
  const onSignal = (name: SignalName, handler: () => void) => {
    handlers.set(name, handler);
    return () => void handlers.delete(name);
  };
  const stop = stopSignal({ ...io, onSignal }, options);
  return { stop, send: (name: SignalName) => handlers.get(name)?.(), caught: () => [...handlers.keys()] };
}

describe('a command', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('stops at a %s, and leaves the next signal to the system', async (name) => {
    const { stop, send, caught } = opened();
    await settle();
    expect(stop.signal.aborted).toBe(false);
    expect(caught()).toEqual(['SIGTERM', 'SIGINT']);
    send(name);
    await stop.stopped;
    expect(stop.signal.aborted).toBe(true);
    expect(caught()).toEqual([]);
  });

  it('handles the signals that it names alone, and ignores later ones until it has ended', () => {
    const { stop, send, caught } = opened({ names: ['SIGINT'], ignoresLater: true });
    send('SIGTERM');
    expect(stop.signal.aborted).toBe(false);
    for (let i = 0; i < 2; i++) send('SIGINT');
    expect(stop.signal.aborted).toBe(true);
    expect(caught()).toEqual(['SIGINT']);
    stop.restore();
    expect(caught()).toEqual([]);
  });

  it('stops at the end of its stdin where it is asked to', async () => {
    const { stop, caught } = opened({ endsWithStdin: true });
    await stop.stopped;
    expect(stop.signal.aborted).toBe(true);
    expect(caught()).toEqual([]);
  });
});
