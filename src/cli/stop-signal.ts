import type { Io } from './io.ts';
import { stdinEnd } from './stdin-end.ts';

/**
 * Resolves at the first SIGTERM or SIGINT, or with `endsWithStdin` at the end of stdin; the system handles the next signal.
 */
export function stopSignal(io: Io, endsWithStdin = false): Promise<undefined> {
  return new Promise((resolve) => {
    const end = (): void => {
      for (const stop of stops) stop();
      resolve(undefined);
    };
    const stops = (['SIGTERM', 'SIGINT'] as const).map((name) => io.onSignal(name, end));
    if (endsWithStdin) void stdinEnd(io).then(end);
  });
}
