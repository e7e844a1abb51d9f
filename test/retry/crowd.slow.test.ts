/** 10,000 retries due in the same second to 1,000 hosts of which a tenth hangs, through the worker: the others are reached in time. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { binaryOf, PROJECT, RUNTIMES, startProcess } from '../support/server.ts';

interface Seen {
  readonly lateMaxMs: number;
  readonly waitedMs: number;
  readonly silentTurns: number;
  readonly slotsMax: number;
  readonly slots: number;
}

/** Without what others on this machine took of it. */
const ownLateMs = ({ lateMaxMs, waitedMs }: Seen): number => lateMaxMs - waitedMs;

describe.each(RUNTIMES)('a crowd of retries under %s', (runtime) => {
  const trial = async (...words: string[]): Promise<Seen> => {
    const program = join(PROJECT, 'bench', 'retry-crowd.ts');
    const { stdout, stderr } = await startProcess(binaryOf(runtime), [program, ...words]).ended;
    expect(stdout, stderr).not.toBe('');
    console.info(runtime, stdout.trim());
    return JSON.parse(stdout) as Seen;
  };

  it('goes out within 15 s to all hosts that answer, and silent hosts get no slot meanwhile', async () => {
    const seen = await trial();
    expect(ownLateMs(seen)).toBeLessThan(15_000);
    // Where others take most of the machine, answers come so slowly that no other host could use some slots.
    if (seen.waitedMs < seen.lateMaxMs / 2) expect(seen.silentTurns).toBe(0);
  }, 120_000);

  it('leaves half of the slots to others when one customer has two thirds of it', async () => {
    const seen = await trial('large');
    expect(ownLateMs(seen)).toBeLessThan(15_000);
    expect(seen.slotsMax).toBeLessThanOrEqual(seen.slots / 2);
  }, 120_000);
});
