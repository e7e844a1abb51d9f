/**
 * What a command may touch of its process. The process hands in its own (main.ts), tests hand in theirs, so a command is
 * run in a test exactly as it is run by a person.
 */
import type { Clock } from '../base/clock.ts';

export interface Output {
  /** Accepts any amount at once; a writer of much waits for `taken` now and then. */
  write(text: string): void;
  /** Waits until what was written has been passed on. false: the reader has gone away, more would be lost. */
  taken(): Promise<boolean>;
  /** A person looks at it. */
  readonly isTerminal: boolean;
  /** Width in characters; 80 where it is not known. */
  readonly columns: number;
}

export type SignalName = 'SIGHUP' | 'SIGINT' | 'SIGTERM';

export interface Io {
  /** Results. */
  readonly stdout: Output;
  /** People's messages and progress. */
  readonly stderr: Output;
  readonly stdin: { readonly bytes: AsyncIterable<Uint8Array>; readonly isTerminal: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Calls `handler` for each such signal, instead of what the system would do; returns how to stop that. */
  onSignal(name: SignalName, handler: () => void): () => void;
}
