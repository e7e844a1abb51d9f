/**
 * A request as gates, handlers and the log see it, and what is kept of one whose answer is held. What costs something is
 * looked up when it is asked for.
 */
import type { Caller } from '../adapters/listen/listen.ts';
import type { DisconnectListener } from '../base/disconnect-listener.ts';
import type { Random } from '../base/random.ts';
import type { Refusal } from '../http/errors.ts';
import type { Call, Told } from '../http/route.ts';
import type { Target } from '../http/target.ts';

export const newRequestId = (random: Random): string => `req_${random.uuid()}`;

/** What the log says of a request, beside its answer. */
export interface Recorded extends Told {
  readonly method: string;
  readonly path: string;
  readonly startMs: number;
  refusal: Refusal | undefined;
  clientAddress(): string;
}

/** What a proxy writes: an IPv4 or IPv6 address, maybe with a port or a zone. Anything else is not worth remembering. */
const ADDRESS_FORM = /^[[\]0-9A-Za-z.:%_-]{1,64}$/;

export class RequestCall implements Call, Recorded {
  readonly request: Request;
  readonly requestId: string;
  readonly path: string;
  readonly search: string;
  readonly params: Readonly<Record<string, string>>;
  readonly startMs: number;
  readonly #caller: Caller;
  readonly #trustProxy: boolean;
  refusal: Refusal | undefined;

  constructor(
    request: Request,
    requestId: string,
    { path, search }: Target,
    params: Readonly<Record<string, string>>,
    startMs: number,
    caller: Caller,
    trustProxy: boolean,
  ) {
    this.request = request;
    this.requestId = requestId;
    this.path = path;
    this.search = search;
    this.params = params;
    this.#caller = caller;
    this.startMs = startMs;
    this.#trustProxy = trustProxy;
  }

  get method(): string {
    return this.request.method;
  }

  header(name: string): string | null {
    const caller = this.#caller;
    return caller.header === undefined ? this.request.headers.get(name) : caller.header(name);
  }

  /** Behind a trusted proxy the last entry of X-Forwarded-For: the one that proxy wrote, not what the client claims. */
  clientAddress(): string {
    if (this.#trustProxy) {
      const forwarded = this.header('x-forwarded-for');
      const last = forwarded?.slice(forwarded.lastIndexOf(',') + 1).trim();
      if (last !== undefined && ADDRESS_FORM.test(last)) return last;
    }
    return this.#caller.address;
  }

  isDisconnected(): boolean {
    const caller = this.#caller;
    return caller.isDisconnected === undefined ? this.request.signal.aborted : caller.isDisconnected();
  }

  onDisconnect(listener: DisconnectListener): void {
    const caller = this.#caller;
    if (caller.onDisconnect !== undefined) caller.onDisconnect(listener);
    else this.request.signal.addEventListener('abort', listener, { once: true });
  }
}

/**
 * What is kept of a request whose answer is held: with its headers the request itself takes a kilobyte on Bun, and long polls
 * are held by the ten thousand. Its id is drawn when it is first told.
 */
export class HeldCall<R extends { readonly method: string }> implements Recorded {
  readonly path: string;
  readonly route: R;
  readonly startMs: number;
  readonly #client: string;
  readonly #random: Random;
  #requestId: string | undefined;
  refusal: Refusal | undefined;

  constructor(call: RequestCall, route: R, random: Random) {
    this.path = call.path;
    this.route = route;
    this.startMs = call.startMs;
    this.#client = call.clientAddress();
    this.#random = random;
  }

  get method(): string {
    return this.route.method;
  }

  get requestId(): string {
    this.#requestId ??= newRequestId(this.#random);
    return this.#requestId;
  }

  clientAddress(): string {
    return this.#client;
  }
}
