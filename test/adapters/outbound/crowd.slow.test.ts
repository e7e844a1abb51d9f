/** 10,000 requests due at once to 1,000 hosts of which a tenth hangs: the others are reached in time. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { binaryOf, PROJECT, RUNTIMES, startProcess } from '../../support/server.ts';

const TRIAL = join(PROJECT, 'test', 'adapters', 'outbound', 'crowd-trial.ts');

describe.each(RUNTIMES)('a crowd of requests under %s', (runtime) => {
  it('reaches every host that answers within 15 s, and gives silent ones no slot meanwhile', async () => {
    const { stdout, stderr } = await startProcess(binaryOf(runtime), [TRIAL]).ended;
    expect(stdout, stderr).not.toBe('');
    const seen = JSON.parse(stdout) as Record<'last' | 'waited' | 'lateToSilent', number>;
    console.log(runtime, stdout);
    // Without what others on this machine took of it.
    expect(seen.last - seen.waited).toBeLessThan(15_000);
    expect(seen.lateToSilent).toBe(0);
  });
});
