/** The jobs of a history with the descriptions that it stores. */
import type { Job } from '../../src/catalogue/job.ts';
import { digestOfKey } from '../../src/catalogue/packed/distinct-texts.ts';
import type { HistoryDatabase } from '../../src/storage/history/database.ts';
import { jobsToBuild, storedTextsOf } from '../../src/storage/history/jobs-to-build.ts';

/** Every job as the catalogue knows it, with the serial of its board. @throws HistoryError */
export function* storedJobs(history: HistoryDatabase): Generator<{ readonly board: number; readonly job: Job }> {
  const texts = storedTextsOf(history);
  for (const { board, job, stored } of jobsToBuild(history)) {
    const description =
      stored === undefined ? job.description : Buffer.from(texts.read(digestOfKey(stored.key), 0)).toString();
    yield { board, job: { ...job, description } };
  }
}
