/** `paygrade load` run in this process, on the real clock. */
import { systemClock } from '../../src/base/clock.ts';
import { runProgram } from '../../src/cli/command.ts';
import type { Io, SignalName } from '../../src/cli/io.ts';
import { PROGRAM } from '../../src/cli/program.ts';
import type { LoadResult } from '../../src/load/result.ts';
import { capturedIo, type Ran } from './captured-io.ts';

export interface Loading {
  readonly ended: Promise<Ran>;
  stderr(): string;
  signal(name: SignalName): void;
}

export function startLoad(words: readonly string[], isTerminal = false, env: Io['env'] = {}): Loading {
  const { io, written } = capturedIo({ isTerminal });
  const handlers = new Map<SignalName, () => void>();
  const own: Io = {
    ...io,
    env: { ...io.env, ...env },
    clock: systemClock,
    onSignal: (name, handler) => {
      handlers.set(name, handler);
      return () => handlers.delete(name);
    },
  };
  const ended = runProgram(PROGRAM, ['load', ...words], own).then((exitCode) => ({ exitCode, ...written }));
  return { ended, stderr: () => written.stderr, signal: (name) => handlers.get(name)?.() };
}

export const runLoadCommand = (words: readonly string[]): Promise<Ran> => startLoad(words).ended;

/** The short run of a test, as its result; what it wrote to stderr is thrown when there is no result. @param seconds at most */
export async function loaded(
  words: readonly string[],
  seconds = 1,
): Promise<{ readonly exitCode: number; readonly result: LoadResult }> {
  const ran = await runLoadCommand([...words, '--duration', String(seconds), '--json']);
  if (ran.stdout === '') throw new Error(`exit code ${ran.exitCode}: ${ran.stderr}`);
  return { exitCode: ran.exitCode, result: JSON.parse(ran.stdout) as LoadResult };
}
