/** The reload of a large catalogue in a process, under each runtime: the event loop goes on. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { suiteFolder } from '../../support/scratch-folder.ts';
import { binaryOf, MAIN, oneRuntime, startProcess } from '../../support/server.ts';
import { IS_WHOLE, partOf } from '../../support/whole.ts';
import type { ReloadTurns } from './reload-turns.ts';

const JOB_COUNT = String(partOf(100_000, 30_000));
const RELOADS = String(partOf(8, 3));
const TURN_MS_MAX = 10;

const folder = suiteFolder();
const file = join(folder, 'large.snapshot');
beforeAll(async () => {
  const words = ['snapshot', 'synth', '--jobs', JOB_COUNT, '--seed', '3', '--out', file];
  expect(await startProcess(binaryOf('node'), [MAIN, ...words]).ended).toMatchObject({ exitCode: 0 });
}, 300_000);

describe.each(oneRuntime('node'))(`a reload of ${JOB_COUNT} jobs under %s`, (runtime) => {
  it('holds up no turn for ten milliseconds, and leaves no file open (reliability 257, 258)', async () => {
    const program = fileURLToPath(new URL('./reload-turns.ts', import.meta.url));
    const { exitCode, stderr, stdout } = await startProcess(binaryOf(runtime), [program, file, RELOADS]).ended;
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const { descriptors, loadMs, reloads } = JSON.parse(stdout) as ReloadTurns;
    // Loading at once takes several times as long, so the bound below means something.
    expect(loadMs).toBeGreaterThan(TURN_MS_MAX * (IS_WHOLE ? 3 : 2));
    const typical = reloads.map(({ slowestMs }) => slowestMs).sort((a, b) => a - b)[reloads.length >> 1]!;
    expect(typical).toBeLessThan(TURN_MS_MAX);
    for (const { turnCount } of reloads) expect(turnCount).toBeGreaterThan(partOf(50, 20));
    expect(descriptors[1]).toBe(descriptors[0]);
  }, 120_000);
});
