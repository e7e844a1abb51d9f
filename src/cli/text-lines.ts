/** Writes much text to an output that may be slow or closed: one batch at a time, each awaited. */
import type { Output } from './io.ts';

/** UTF-16 units per write: one system call for some hundred lines. */
const BATCH_UNITS = 64 * 1024;

/** Writes until the lines end or the reader closes its end. That is no failure: `| head` has read enough. */
export async function writeLines(lines: Iterable<string>, output: Output): Promise<void> {
  let batch = '';
  for (const line of lines) {
    batch += line;
    if (batch.length < BATCH_UNITS) continue;
    output.write(batch);
    batch = '';
    if (!(await output.taken())) return;
  }
  output.write(batch);
  await output.taken();
}
