/** Every real file in one command: what comes in, and what is refused for which reason. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { EVERY_REAL_FILE, realDataMissing, realFile, skippedWithout } from '../ingest/real-data.ts';
import { run } from './captured-io.ts';

const folder = mkdtempSync(join(tmpdir(), 'paygrade-import-all-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Report {
  readonly files: readonly { format: string | null; read: number; imported: number; refused: Record<string, number> }[];
  readonly new: number;
  readonly seen: number;
}

describe.skipIf(realDataMissing)(`import of every real file${skippedWithout}`, () => {
  it('takes all but rows without title, company or address', { timeout: 600_000 }, async () => {
    const names = readdirSync(realFile('')).filter((name) => name !== 'README.md');
    const words = ['import', '--catalogue', folder, '--json', ...names.map(realFile)];
    const { exitCode, stdout } = await run(words);
    const { files, new: isNew, seen } = JSON.parse(stdout) as Report;
    // LinkedIn's four side tables hold no postings.
    expect([exitCode, files.length, files.filter(({ format }) => format === null).length]).toEqual([
      2,
      names.length,
      4,
    ]);
    const reasons = new Map<string, number>();
    let read = 0;
    let imported = 0;
    for (const file of files) {
      const refused = Object.values(file.refused).reduce((sum, count) => sum + count, 0);
      expect(file.imported + refused).toBe(file.read);
      read += file.read;
      imported += file.imported;
      for (const [reason, count] of Object.entries(file.refused))
        reasons.set(reason, (reasons.get(reason) ?? 0) + count);
    }
    const repeated = reasons.get('repeated id') ?? 0;
    reasons.delete('repeated id');
    expect(Object.fromEntries(reasons)).toEqual(EVERY_REAL_FILE.refused);
    expect(read).toBe(EVERY_REAL_FILE.read);
    expect(imported / (imported + repeated)).toBeGreaterThan(0.99);
    expect(seen).toBe(0);
    expect(isNew).toBeGreaterThan(170_000);
  });
});
