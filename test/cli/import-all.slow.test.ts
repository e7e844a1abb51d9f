/** Every real file in one command: what comes in, and what is refused for which reason. */
import { describe, expect, it } from 'vitest';
import { EVERY_REAL_FILE, realDataMissing, realFiles, skippedWithout } from '../ingest/real-data.ts';
import { suiteFolder } from '../support/scratch-folder.ts';
import { run } from './captured-io.ts';

const folder = suiteFolder();

interface Report {
  readonly files: readonly { format: string | null; read: number; imported: number; refused: Record<string, number> }[];
  readonly new: number;
}

describe.skipIf(realDataMissing)(`import of every real file${skippedWithout}`, () => {
  it('takes all but rows without title, company or address', { timeout: 600_000 }, async () => {
    const { undated, dated } = realFiles();
    const reports: Report[] = [];
    for (const [code, words] of [
      [0, ['--observed-at', 'from-name', ...dated]],
      [2, undated],
    ] as const) {
      const { exitCode, stdout } = await run(['import', '--catalogue', folder, '--json', ...words]);
      expect(exitCode).toBe(code);
      reports.push(JSON.parse(stdout) as Report);
    }
    const files = reports.flatMap((report) => report.files);
    // LinkedIn's four side tables hold no postings.
    expect([files.length, files.filter(({ format }) => format === null).length]).toEqual([
      dated.length + undated.length,
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
    expect(reports.reduce((sum, report) => sum + report.new, 0)).toBeGreaterThan(170_000);
  });
});
