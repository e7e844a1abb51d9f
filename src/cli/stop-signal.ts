/** How a command stops: at a signal, and where it is asked to, at the end of its stdin. */
import type { Io, SignalName } from './io.ts';

/** Lets a process started by another of ours end with that one, however it ends: its stdin ends then. */
export const UNTIL_STDIN_ENDS = {
  type: 'flag',
  help: 'end when stdin ends, so that it does not outlive its parent',
} as const;

/** For a command that only the system's handling of signals ends. */
export const NEVER_STOPPED: AbortSignal = new AbortController().signal;

export interface StopOptions {
  /** SIGTERM and SIGINT when not given. */
  readonly names?: readonly SignalName[];
  /** Whether the end of stdin stops the command too. */
  readonly endsWithStdin?: boolean;
  /** True: later signals are ignored until `restore`. Else the system handles them, which ends the process. */
  readonly ignoresLater?: boolean;
}

export interface Stop {
  readonly signal: AbortSignal;
  /** Resolves when `signal` aborts. */
  readonly stopped: Promise<undefined>;
  /** Leaves the signals to the system again. */
  restore(): void;
}

/** Stops at the first signal. */
export function stopSignal(
  io: Io,
  { names = ['SIGTERM', 'SIGINT'], endsWithStdin = false, ignoresLater = false }: StopOptions = {},
): Stop {
  const controller = new AbortController();
  const { promise: stopped, resolve } = Promise.withResolvers<undefined>();
  const restore = (): void => {
    for (const one of restores.splice(0)) one();
  };
  const stop = (): void => {
    if (!ignoresLater) restore();
    controller.abort();
    resolve(undefined);
  };
  const restores = names.map((name) => io.onSignal(name, stop));
  if (endsWithStdin) void stdinEnd(io).then(stop);
  return { signal: controller.signal, stopped, restore };
}

/** Resolves when stdin ends or cannot be read. */
async function stdinEnd(io: Io): Promise<void> {
  try {
    for await (const _ of io.stdin.bytes);
  } catch {
    // An unreadable stdin counts as ended.
  }
}
