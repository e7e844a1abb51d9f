/**
 * Preloaded into a server that is measured from outside: at SIGUSR2 the process lets go of what it does not hold and prints
 * one line, `memory` and what it has then. Node needs --expose-gc.
 */
import { heapBytes, pause } from './harness.ts';

/** Allocators give pages back some time after the collector has given them up. */
const SETTLING_MS = 1_000;

process.on('SIGUSR2', async () => {
  heapBytes();
  await pause(SETTLING_MS);
  const heap = heapBytes();
  await pause(SETTLING_MS);
  const residentBytes = process.memoryUsage.rss();
  process.stdout.write(`memory ${JSON.stringify({ residentBytes, heapBytes: heap })}\n`);
});
