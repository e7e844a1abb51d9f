/**
 * What a command may use of its process. `main.ts` passes the real process, tests pass their own, so a test runs a command
 * exactly as a person does.
 */
import type { Clock } from '../base/clock.ts';

export interface Output {
  /**
   * Accepts any amount at once; a caller with much text awaits `taken` now and then. Control characters except line
   * feeds appear as escapes (base/printable.ts), so that no foreign text can control the terminal.
   */
  write(text: string): void;
  /** Clears the line of the terminal that `write` is in, for progress. */
  clearLine(): void;
  /**
   * Resolves when the system has accepted all text. false: the reader has closed its end; further text would be lost.
   */
  taken(): Promise<boolean>;
  /** Whether it is a terminal, with a person in front of it. */
  readonly isTerminal: boolean;
  /** Width in characters; 80 when unknown. */
  readonly columns: number;
}

export type SignalName = 'SIGHUP' | 'SIGINT' | 'SIGTERM';

/** A process that this one started. */
export interface OwnProcess {
  /** Its exit code; null: a signal ended it. */
  readonly ended: Promise<number | null>;
  /** Asks it to end, with SIGTERM. */
  end(): void;
}

export interface Io {
  /** Results. */
  readonly stdout: Output;
  /** Messages and progress, for people. */
  readonly stderr: Output;
  readonly stdin: { readonly bytes: AsyncIterable<Uint8Array>; readonly isTerminal: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Calls `handler` for each such signal instead of the system's default action. @returns restores the default */
  onSignal(name: SignalName, handler: () => void): () => void;
  /** This process. */
  readonly processId: number;
  /** What a person types before a command, for hints that can be pasted. */
  readonly programWords: string;
  /** @throws the system's error (ESRCH, EPERM) */
  sendSignal(processId: number, name: SignalName): void;
  /**
   * Starts this program with other words, in the same process group. It shares this process's output; its stdin ends
   * with this process, however that ends.
   */
  startSelf(words: readonly string[]): OwnProcess;
}
