/** Waiting for what another process does. */

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Several times our own pauses, of which the looks of every three seconds are the longest, and half of a test’s time. */
const PATIENCE_MS = 15_000;

/** @throws Error that names `what` if it does not happen in time */
export async function until(
  what: string,
  done: () => boolean | Promise<boolean>,
  timeoutMs = PATIENCE_MS,
): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (!(await done())) {
    if (performance.now() > end) throw new Error(`${what} did not come to be in ${timeoutMs} ms`);
    await pause(25);
  }
}
