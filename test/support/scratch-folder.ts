/** Folders for the files of tests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

function removedAfter(end: (remove: () => void) => void): string {
  const folder = mkdtempSync(join(tmpdir(), 'paygrade-test-'));
  end(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A new one for all tests of the file or suite that asks for it. */
export const suiteFolder = (): string => removedAfter(afterAll);

/** A new one for the test that runs; `beforeEach` may ask too. */
export const testFolder = (): string => removedAfter(onTestFinished);
