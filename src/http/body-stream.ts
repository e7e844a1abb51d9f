/**
 * Sends bodies that are made while they leave. A stream asks for a piece only when the runtime wants to write one, which it does
 * when the client has taken the one before; a client that does not read therefore stops the production. All bodies share the
 * turns: one piece of one body in each turn of the loop, in the order in which they asked, so that any number of readers delays
 * other requests by no more than a piece.
 */
import type { BodyPieces } from './answers.ts';

/** Entries of the queue of turns that have run and are still in it: dropping each would move all others. */
const RUN_COUNT_MAX = 256;

/** Runs what waits, one each turn of the loop, first come, first served. */
class Turns {
  readonly #soon: (run: () => void) => void;
  #waiting: (() => void)[] = [];
  /** Index of the next one in `#waiting`; those before it have run. */
  #next = 0;
  #isScheduled = false;

  constructor(soon: (run: () => void) => void) {
    this.#soon = soon;
  }

  /** Resolves in a turn in which no other resolves. */
  take(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#soon(this.#run);
  }

  readonly #run = (): void => {
    this.#isScheduled = false;
    const run = this.#waiting[this.#next++]!; // scheduled only while there is one
    if (this.#next === this.#waiting.length || this.#next === RUN_COUNT_MAX) {
      this.#waiting = this.#waiting.slice(this.#next);
      this.#next = 0;
    }
    if (this.#waiting.length > 0) this.#schedule();
    run();
  };
}

/** The request that a body answers. */
export interface BodyReceiver {
  readonly requestId: string;
  /** Closes the connection without an end of the answer; false where only an error of the stream does that. */
  cut(): boolean;
}

export interface BodyStreamPorts {
  /** Receives the failure of a body that was being sent, once. */
  readonly report: (failure: unknown, requestId: string) => void;
  /** Calls `run` after the I/O of this turn; `setImmediate` when not given. */
  readonly soon?: ((run: () => void) => void) | undefined;
}

export class BodyStreams {
  readonly #report: BodyStreamPorts['report'];
  readonly #turns: Turns;

  constructor({ report, soon = setImmediate }: BodyStreamPorts) {
    this.#report = report;
    this.#turns = new Turns((run) => soon(run));
  }

  /** The pieces as a body of a `Response`, which holds one of them at most. */
  open(pieces: BodyPieces, receiver: BodyReceiver): ReadableStream<Uint8Array> {
    let source: BodyPieces | undefined = pieces;
    const end = (): void => {
      source = undefined;
    };
    const cut = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      end();
      // Where the listener closes the connection it also cancels the stream; an error would be one more line on stderr.
      if (!receiver.cut()) controller.error(new Error('the answer was cut'));
    };
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          await this.#turns.take();
          try {
            const piece = await source?.next();
            // Canceled in the meantime.
            if (source === undefined || piece === undefined) return;
            if (piece === 'cut') cut(controller);
            else if (piece !== null) controller.enqueue(piece);
            else {
              end();
              controller.close();
            }
          } catch (failure) {
            if (source === undefined) return;
            this.#report(failure, receiver.requestId);
            cut(controller);
          }
        },
        cancel: end,
      },
      // Asks for no piece before the runtime does.
      { highWaterMark: 0 },
    );
  }
}
