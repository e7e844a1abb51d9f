/** Replies of the callbacks, which contain text from untrusted senders. */
import { chain, type MaybePromise } from '../../base/maybe-promise.ts';
import type { Absent, EventJson, RawBody } from '../../callback/callbacks.ts';
import { JsonPieces } from '../../callback/event-json.ts';
import { BodyPieces, Reply } from '../../http/answers.ts';
import { UNTRUSTED_HEADERS } from '../untrusted.ts';

/** @param json finished JSON text */
export function jsonReply(json: string): Reply {
  return new Reply(json, UNTRUSTED_HEADERS);
}

/** JSON text with events that are written while the answer is sent. */
class EventPieces extends BodyPieces {
  readonly #json: JsonPieces<Absent>;

  constructor(json: JsonPieces<Absent>, callback: string) {
    super(callback);
    this.#json = json;
  }

  next(): MaybePromise<Uint8Array | null | 'cut'> {
    return chain(this.#json.next(), (piece) => (piece !== null && 'kind' in piece ? 'cut' : piece));
  }
}

const isFinished = (event: EventJson): event is string => typeof event === 'string';

/** JSON text with events of a callback in it: one string if all of them are finished, else pieces. */
export function eventsReply(before: string, events: readonly EventJson[], after: string, callback: string): Reply {
  if (events.every(isFinished)) return jsonReply(before + events.join(',') + after);
  const segments = events.flatMap((event, index) => (index === 0 ? [event] : [',', event]));
  return new Reply(new EventPieces(new JsonPieces([before, ...segments, after]), callback), UNTRUSTED_HEADERS);
}

/** The exact bytes of an event, part by part. */
class RawPieces extends BodyPieces {
  readonly #raw: RawBody;
  #index = 0;
  #sentBytes = 0;

  constructor(raw: RawBody, callback: string) {
    super(callback);
    this.#raw = raw;
  }

  next(): MaybePromise<Uint8Array | null | 'cut'> {
    if (this.#sentBytes === this.#raw.sizeBytes) return null;
    return chain(this.#raw.event.read(this.#index++), (part) => {
      if (!('bytes' in part)) return 'cut';
      this.#sentBytes += part.bytes.length;
      return part.bytes;
    });
  }
}

/** The exact bytes of an event. */
export const rawBody = (raw: RawBody, callback: string): Uint8Array | BodyPieces =>
  raw.first.length === raw.sizeBytes ? raw.first : new RawPieces(raw, callback);
