/** The simulator finds the faults it is made for: it runs over copies of the program that each break one promise, and must name it. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyProgram } from '../crash/steps.ts';
import { suiteFolder } from '../support/scratch-folder.ts';
import { binaryOf, PROJECT, startProcess } from '../support/server.ts';
import { SABOTAGES } from './sabotages.ts';

const folder = suiteFolder();

describe('the simulator of retries and resolves', () => {
  it.each(SABOTAGES.map((one, index) => [one.what, index, one] as const))(
    'finds it when %s',
    async (_, index, { changes, found }) => {
      const copy = join(folder, String(index));
      copyProgram(PROJECT, copy, changes);
      cpSync(join(PROJECT, 'test'), join(copy, 'test'), { recursive: true });
      const words = ['--mix', 'outbound', '--runs', '400', '--json'];
      const { exitCode, stderr } = await startProcess(binaryOf('node'), [
        join(copy, 'test', 'sim', 'main.ts'),
        ...words,
      ]).ended;
      const line = stderr.split('\n').find((one) => one.startsWith('seed ')) ?? stderr.slice(-500);
      expect(line).toMatch(found);
      expect(exitCode).toBe(1);
      console.info(line);
    },
    // The one that needs a kill at the right moment takes four minutes on a machine that does other things.
    900_000,
  );
});
