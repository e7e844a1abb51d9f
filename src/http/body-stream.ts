/**
 * Sends bodies that are made while they are sent. A stream asks for a piece only when the runtime wants to write one, which is
 * when the client has taken the one before; so a client that does not read stops production. Each turn of the loop makes one
 * piece of one body, and shares take turns. So any number of readers delays other requests by at most one piece, and readers
 * of other things by at most one piece each.
 */
import { Turns } from '../base/turns.ts';
import type { BodyPieces } from './answers.ts';

/** The request that a body answers. */
export interface BodyReceiver {
  readonly requestId: string;
  /** Closes the connection before the answer's end; false where only a stream error can do that. */
  cut(): boolean;
}

export interface BodyStreamPorts {
  /** Called once with the failure of a body that was being sent. */
  readonly report: (failure: unknown, requestId: string) => void;
  /** Calls `run` after the I/O of this turn; `setImmediate` when not given. */
  readonly soon?: ((run: () => void) => void) | undefined;
}

export class BodyStreams {
  readonly #report: BodyStreamPorts['report'];
  readonly #turns: Turns;

  constructor({ report, soon = setImmediate }: BodyStreamPorts) {
    this.#report = report;
    this.#turns = new Turns(1, soon);
  }

  /**
   * The pieces as the body of a `Response`, which holds at most one of them.
   * @param onEnd called once, when all of it was handed over, or the rest never will be
   */
  open(pieces: BodyPieces, receiver: BodyReceiver, onEnd: () => void = () => {}): ReadableStream<Uint8Array> {
    let source: BodyPieces | undefined = pieces;
    const end = (): void => {
      if (source === undefined) return;
      source = undefined;
      onEnd();
    };
    const cut = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      end();
      // Where the listener closes the connection it also cancels the stream; an error would be one more line on stderr.
      if (!receiver.cut()) controller.error(new Error('the answer was cut'));
    };
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          await this.#turns.take(pieces.share);
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
