/** The folder of tests that start servers with catalogues. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { buildSnapshot, jobLine } from './catalogue-files.ts';

/** A folder for the tests of a file, with a catalogue of one job; removed after them. */
export function catalogueFolder(): { readonly folder: string; readonly goodFile: string } {
  const folder = mkdtempSync(join(tmpdir(), 'paygrade-process-'));
  const goodFile = join(folder, 'good.snap');
  beforeAll(() => buildSnapshot(goodFile, [jobLine()]));
  afterAll(() => rmSync(folder, { recursive: true }));
  return { folder, goodFile };
}
