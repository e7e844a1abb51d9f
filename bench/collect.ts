/**
 * Preloaded into a server that is measured from outside: at SIGUSR2 the process lets go of what it does not hold and prints
 * one line, `memory` and what it has then. Node needs --expose-gc.
 */
import { heapBytes, pause } from './harness.ts';

process.on('SIGUSR2', async () => {
  heapBytes();
  await pause(200); // both allocators give pages back a little later than the collector gives them up
  const heap = heapBytes();
  await pause(100);
  const residentBytes = process.memoryUsage.rss();
  process.stdout.write(`memory ${JSON.stringify({ residentBytes, heapBytes: heap })}\n`);
});
