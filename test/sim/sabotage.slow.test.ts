/** The simulator finds the faults it is made for: it runs over copies of the program that each break one promise, and must name it. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { copyProgram } from '../crash/steps.ts';
import { suiteFolder } from '../support/scratch-folder.ts';
import { binaryOf, PROJECT, startProcess } from '../support/server.ts';
import { SABOTAGES } from './sabotages.ts';

/** The fault that is found last needs a kill at the right moment, and comes at seed 59. */
const RUNS = '150';
/** The simulator then ends with the run under way, having found nothing. A run takes ten seconds on a machine that does other things. */
const ENDS_AFTER_MS = 840_000;

const folder = suiteFolder();

describe('the simulator of retries and resolves', () => {
  it.each(SABOTAGES.map((one, index) => [one.what, index, one] as const))(
    'finds it when %s',
    async (_, index, { changes, found }) => {
      const copy = join(folder, String(index));
      copyProgram(PROJECT, copy, changes);
      cpSync(join(PROJECT, 'test'), join(copy, 'test'), { recursive: true });
      const words = [join(copy, 'test', 'sim', 'main.ts'), '--mix', 'outbound', '--runs', RUNS, '--json'];
      const { child, ended } = startProcess(binaryOf('node'), words);
      const timer = setTimeout(() => child.kill('SIGTERM'), ENDS_AFTER_MS);
      const { exitCode, stderr } = await ended;
      clearTimeout(timer);
      const line = stderr.split('\n').find((one) => one.startsWith('seed ')) ?? stderr.slice(-500);
      expect(line).toMatch(found);
      expect(exitCode).toBe(1);
      console.info(line);
    },
    900_000,
  );
});
