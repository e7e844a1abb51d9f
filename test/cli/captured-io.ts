/** A process for a command under test: what it writes is kept, its clock stands still. */
import { printableLines } from '../../src/base/printable.ts';
import { runProgram } from '../../src/cli/command.ts';
import type { Io, Output } from '../../src/cli/io.ts';
import { PROGRAM } from '../../src/cli/program.ts';

export interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Surroundings {
  readonly stdin?: string | Uint8Array;
  readonly nowMs?: number;
  readonly isTerminal?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** Receives the signals that a command sends to processes. */
  readonly onSent?: (processId: number, name: string) => void;
}

export const NOW_MS = Date.UTC(2026, 10, 21, 12);

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Each look at the monotonic clock is `stepMs` later, so that progress has something to show. */
export function capturedIo(
  { stdin = '', nowMs = NOW_MS, isTerminal = false, env = {}, onSent }: Surroundings,
  stepMs = 1000,
) {
  const written = { stdout: '', stderr: '' };
  const output = (name: 'stdout' | 'stderr'): Output => ({
    write(text) {
      written[name] += printableLines(text);
    },
    clearLine() {
      written[name] += '\r\u001b[K';
    },
    taken: async () => true,
    isTerminal,
    columns: 80,
  });
  let monotonicMs = 0;
  const io: Io = {
    stdout: output('stdout'),
    stderr: output('stderr'),
    stdin: { bytes: once(typeof stdin === 'string' ? Buffer.from(stdin) : stdin), isTerminal: false },
    env,
    clock: {
      nowMs: () => nowMs,
      monotonicMs: () => {
        monotonicMs += stepMs;
        return monotonicMs;
      },
    },
    onSignal: () => () => {},
    processId: 4711,
    programWords: 'npm run -s paygrade --',
    sendSignal: (processId, name) => onSent?.(processId, name),
    startSelf: () => {
      throw new Error('a command in process starts no other');
    },
  };
  return { io, written };
}

export async function run(words: readonly string[], surroundings: Surroundings = {}): Promise<Ran> {
  const { io, written } = capturedIo(surroundings);
  const exitCode = await runProgram(PROGRAM, words, io);
  return { exitCode, ...written };
}
