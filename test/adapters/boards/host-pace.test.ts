/** The turns of a host. */
import { expect, it } from 'vitest';
import { HostPace } from '../../../src/adapters/boards/host-pace.ts';
import { ManualTime, settle } from '../../support/manual-time.ts';

it('a request that is given up in line leaves at once, and the next one still waits for the one before', async () => {
  const time = new ManualTime();
  const pace = new HostPace(1000, time, time);
  const { signal } = new AbortController();
  const sent: string[] = [];
  let answer = (): void => {};
  const first = pace.inTurn('h.example', signal, async () => {
    sent.push('first');
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    return 'first';
  });
  const leaving = new AbortController();
  const second = pace.inTurn('h.example', leaving.signal, async () => sent.push('second'));
  const third = pace.inTurn('h.example', signal, async () => sent.push('third'));
  await settle();
  leaving.abort();
  expect(await second).toBeUndefined();
  time.pass(5000);
  await settle();
  expect(sent).toEqual(['first']);
  answer();
  expect(await first).toBe('first');
  await settle();
  expect(sent).toEqual(['first']);
  time.pass(1000);
  await third;
  expect(sent).toEqual(['first', 'third']);
});
