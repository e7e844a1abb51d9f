/**
 * One declaration an operation. Query decoding, the 400s, access, the offer, discovery, OpenAPI and the contract tests all
 * read this object; none keeps a copy.
 */
import type * as v from 'valibot';
import type { DisconnectListener } from '../base/disconnect-listener.ts';
import type { Access, Visit } from './access.ts';
import type { ErrorCode, Refusal } from './errors.ts';
import type { QuerySchema } from './query.ts';

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What a document is to the API, as a link relation of RFC 8631; the API catalogue links to it so. */
export type ServiceRelation = 'service-desc' | 'service-doc' | 'service-meta' | 'status';

/** A body that is ready as text or bytes, with its own type; anything else a handler answers is sent as JSON. */
export class Reply {
  /** null = none, as a 304 must have it. */
  readonly body: string | Uint8Array | null;
  readonly headers: Readonly<Record<string, string>>;
  /** Instead of the route's own status. */
  readonly status: number | undefined;

  constructor(body: string | Uint8Array | null, headers: Readonly<Record<string, string>>, status?: number) {
    this.body = body;
    this.headers = headers;
    this.status = status;
  }
}

/** An answer's JSON, where somebody has it as text already. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * An answer that comes into being only when every pass has settled: a callback's ten minutes start when it is paid for.
 * Nothing is kept until `confirm` is called; without it, nothing has to be undone.
 */
export class Provisional<T> {
  readonly confirm: () => T | Reply | Promise<T | Reply>;

  constructor(confirm: () => T | Reply | Promise<T | Reply>) {
    this.confirm = confirm;
  }
}

/** Whose response it is, as far as the response says so. */
export interface Told {
  /** `req_` and a UUID, as in the error body and the log. */
  readonly requestId: string;
}

/** Makes the response of a held answer when it is given. */
export type Respond = (told: Told, answer: unknown) => Response;

/** What is left to do with that response, or with the failure to make it. */
export type Conclude<C extends Told> = (told: C, respond: () => Response) => Response;

/**
 * An answer that comes later and holds nothing that was paid for. The layers that it passes on its way out put their steps
 * into it: a promise with its closures takes 200 bytes a layer, and long polls are held by the ten thousand. Answers that
 * come soon are promises.
 */
export abstract class Held<T = unknown> {
  #respond: Respond | undefined;
  #told: Told | undefined;
  #conclude: Conclude<never> | undefined;
  #resolve: ((response: Response) => void) | undefined;

  /** The kit's step. */
  respondWith(respond: Respond): this {
    this.#respond = respond;
    return this;
  }

  /** The last step, in the same turn. */
  response<C extends Told>(told: C, conclude: Conclude<C>): Promise<Response> {
    return new Promise((resolve) => {
      this.#told = told;
      this.#conclude = conclude;
      this.#resolve = resolve;
    });
  }

  /** Called once, in a later turn than the one in which it was made. */
  protected give(answer: T): void {
    const respond = this.#respond as Respond;
    const told = this.#told as Told;
    this.#resolve?.((this.#conclude as Conclude<Told>)(told, () => respond(told, answer)));
  }
}

/** A query parameter of a route that reads its query itself. */
export interface LenientParameter {
  /** What is sent as a rule; other values are taken too, as `rule` says. */
  readonly schema: v.GenericSchema;
  /** One whole sentence. */
  readonly rule: string;
}

/** A response header as the contract shows it. */
export interface AnswerHeader {
  readonly description: string;
  readonly schema: v.GenericSchema;
  /** Not on every success; on every one when not given. */
  readonly optional?: boolean;
}

export type ExampleValues = Readonly<Record<string, string | number | boolean>>;

/** What the contract says of an operation and serving it does not need. */
export interface Documentation {
  readonly summary: string;
  readonly description?: string;
  /** Which part of the API it belongs to: `tags` of OpenAPI, a section of `/llms.txt`. */
  readonly tag?: string;
  /** Given out under HOOK_BASE_URL instead of BASE_URL. */
  readonly isHook?: boolean;
  /** For a document about the API itself. */
  readonly relation?: ServiceRelation;
  /** Schemas of path parameters, by name; plain text when not given. */
  readonly params?: Readonly<Record<string, v.GenericSchema>>;
  /** In place of `query`, where the handler reads it: unknown names are ignored and no value is refused. */
  readonly lenientQuery?: Readonly<Record<string, LenientParameter>>;
  /** Schema of the body by media type or range. No body of ours must be sent. */
  readonly bodies?: Readonly<Record<string, v.GenericSchema>>;
  /** Media type of success without its parameters; JSON when not given. Of types that are not JSON the schema is left out. */
  readonly answerType?: string;
  /** Headers that the handler adds to success, by name. */
  readonly answerHeaders?: Readonly<Record<string, AnswerHeader>>;
  /** Examples of input; those of bodies by media type. */
  readonly examples?: {
    readonly params?: ExampleValues;
    readonly query?: ExampleValues;
    readonly bodies?: Readonly<Record<string, unknown>>;
    /** A body of success. */
    readonly answer?: unknown;
  };
}

/** What a handler may want of the request beyond its decoded input. */
export interface Call extends Visit, Told {
  /** Path parameters as sent, still percent-encoded. */
  readonly params: Readonly<Record<string, string>>;
  /** The request itself, for its body. */
  readonly request: Request;
  /** Tells the listener when the client goes away: once, some time after, or when its answer has gone out, or never. */
  onDisconnect(listener: DisconnectListener): void;
}

type Input<Q> = Q extends v.GenericSchema ? v.InferOutput<Q> : Record<never, never>;

export type Handled<T, C extends ErrorCode> = T | JsonText | Reply | Provisional<T> | Refusal<C>;

export interface Declaration<S, Q extends QuerySchema | undefined, A extends v.GenericSchema, C extends ErrorCode>
  extends Documentation {
  /** Unique; `operationId` of OpenAPI. */
  readonly operation: string;
  readonly method: Method;
  /** Fixed, or with `:name` segments. */
  readonly path: `/${string}`;
  readonly access: readonly Access[];
  readonly query?: Q;
  /** Status of success; 200 when not given. */
  readonly status?: 200 | 201;
  /** Schema of the success body, closed. */
  readonly answer: A;
  /** `cache-control` of success; paid answers are always `private, no-store`. */
  readonly cacheControl?: string;
  /** Schemas of further bodies that are no errors, by status. */
  readonly otherAnswers?: Readonly<Record<number, v.GenericSchema>>;
  /** Codes that the handler itself may refuse with; those of decoding and access follow from the rest. */
  readonly errors: readonly C[];
  /** What must be there before anybody is asked to pay; judged after the query. */
  ready?(services: S): Refusal<NoInfer<C>> | undefined;
  /**
   * A body that is input, judged after the query and before anybody is admitted or pays; a promise only when there is one
   * to wait for. A body that is data (a webhook's) is read by the handler.
   */
  body?(call: Call, services: S): Refusal<NoInfer<C>> | undefined | Promise<Refusal<NoInfer<C>> | undefined>;
  handle(
    /** May be another request's too. */
    input: Readonly<Input<Q>>,
    services: S,
    call: Call,
  ):
    | Handled<v.InferInput<A>, NoInfer<C>>
    | Promise<Handled<v.InferInput<A>, NoInfer<C>>>
    | Held<v.InferInput<A> | Reply | Refusal<NoInfer<C>>>;
}

/** A declaration with its handler's types set aside, as the kit and the readers of declarations see it. */
export interface Route<S = never> extends Documentation {
  readonly operation: string;
  readonly method: Method;
  readonly path: `/${string}`;
  readonly access: readonly Access[];
  readonly query?: QuerySchema | undefined;
  readonly status?: 200 | 201;
  readonly answer: v.GenericSchema;
  readonly cacheControl?: string;
  readonly otherAnswers?: Readonly<Record<number, v.GenericSchema>>;
  readonly errors: readonly ErrorCode[];
  ready?(services: S): Refusal | undefined;
  body?(call: Call, services: S): Refusal | undefined | Promise<Refusal | undefined>;
  handle(input: never, services: S, call: Call): unknown;
}

/** `route<Services>()({...})`: the first call fixes what the handler is given, the second infers the rest. */
export function route<S>() {
  return <const Q extends QuerySchema | undefined, A extends v.GenericSchema, C extends ErrorCode = never>(
    declaration: Declaration<S, Q, A, C>,
  ): Route<S> => declaration as unknown as Route<S>;
}
