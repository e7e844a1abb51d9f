/**
 * The crash harness finds the faults it is made for: it runs against copies of the program that each break one promise, and
 * must name that promise. Without this, a harness that finds nothing proves nothing.
 */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { suiteFolder } from '../support/scratch-folder.ts';
import { binaryOf, PROJECT, processEnvironment } from '../support/server.ts';
import { SABOTAGES } from './sabotages.ts';
import { copyProgram } from './steps.ts';

const folder = suiteFolder();

describe('the crash harness', () => {
  it.each(SABOTAGES.map((one, index) => [one.what, index, one] as const))(
    'finds it when %s',
    (_, index, { changes, settlement, aim, found }) => {
      const entry = copyProgram(PROJECT, join(folder, String(index)), changes);
      const words = [
        '--cycles',
        '30',
        '--runtime',
        'bun',
        '--settlement',
        settlement,
        '--seed',
        String(index),
        '--aim',
        aim,
        '--json',
      ];
      const { status, stdout, stderr } = spawnSync(
        binaryOf('node'),
        [join(PROJECT, 'test', 'crash', 'main.ts'), ...words, '--entry', entry],
        { env: processEnvironment({}), encoding: 'utf8', timeout: 290_000 },
      );
      expect(stderr).toMatch(found);
      expect(status).toBe(1);
      const { seed, stateDir } = JSON.parse(stdout) as { seed: number; stateDir: string };
      expect(seed).toBe(index);
      rmSync(join(stateDir, '..', '..'), { recursive: true });
      console.info(stderr.split('\n')[0]);
    },
    300_000,
  );
});
