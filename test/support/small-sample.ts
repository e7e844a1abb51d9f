/** A small sample as a catalogue file: a server that opens it starts in half the time of one that builds its own. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSample } from '../../src/ingest/synth/sample.ts';

export const SMALL_SAMPLE_JOB_COUNT = 500;
let path: string | undefined;

/** Created once for each process, which removes it at its end; workers take that of their run (bundled-setup.ts). */
export function smallSample(): string {
  path ??= process.env.PAYGRADE_SMALL_SAMPLE;
  if (path !== undefined) return path;
  const folder = mkdtempSync(join(tmpdir(), 'paygrade-sample-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  path = join(folder, 'sample.pgs');
  writeFileSync(path, buildSample(Date.now(), SMALL_SAMPLE_JOB_COUNT));
  return path;
}
