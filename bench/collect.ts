/**
 * Preloaded into a server that a bench measures from outside: at SIGUSR2 the process collects its garbage and prints
 * one line: `memory` and the figures. Node needs --expose-gc.
 */
import { heapBytes, pause } from './harness.ts';

/** Allocators return pages to the system some time after a collection. */
const SETTLING_MS = 1_000;

process.on('SIGUSR2', async () => {
  heapBytes();
  await pause(SETTLING_MS);
  const heap = heapBytes();
  await pause(SETTLING_MS);
  const residentBytes = process.memoryUsage.rss();
  process.stdout.write(`memory ${JSON.stringify({ residentBytes, heapBytes: heap })}\n`);
});
