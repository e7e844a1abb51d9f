/** The simulator of several processes finds the faults it is made for, in copies of the program that have them. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyProgram } from '../../crash/steps.ts';
import { suiteFolder } from '../../support/scratch-folder.ts';
import { binaryOf, PROJECT, startProcess } from '../../support/server.ts';
import { SHARED_SABOTAGES } from './sabotages.ts';

const folder = suiteFolder();

describe('the simulator of several processes on one database', () => {
  it.each(SHARED_SABOTAGES.map((one, index) => [one.what, index, one] as const))(
    'finds it when %s',
    async (_, index, { changes, found }) => {
      const copy = join(folder, String(index));
      copyProgram(PROJECT, copy, changes);
      cpSync(join(PROJECT, 'test'), join(copy, 'test'), { recursive: true });
      const main = join(copy, 'test', 'sim', 'shared', 'main.ts');
      const { exitCode, stderr } = await startProcess(binaryOf('node'), [main, '--authorizations', '80000']).ended;
      const line = stderr.split('\n').find((one) => one.startsWith('seed ')) ?? stderr.slice(-500);
      console.info(line);
      expect(line).toMatch(found);
      expect(exitCode).toBe(1);
    },
    900_000,
  );
});
