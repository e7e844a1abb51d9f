/** What an operation's declaration says to the outside: how to ask, what comes back, and what documents tell of it. */
import type * as v from 'valibot';
import type { ErrorCode } from './errors.ts';
import type { QuerySchema } from './query.ts';

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** How a document relates to the API, as a link relation of RFC 8631; the API catalogue links to it by that. */
export type ServiceRelation = 'service-desc' | 'service-doc' | 'service-meta' | 'status';

/** A query parameter of a route that reads its query itself. */
export interface LenientParameter {
  /** What clients send as a rule; other values are accepted too, as `rule` says. */
  readonly schema: v.GenericSchema;
  /** One whole sentence. */
  readonly rule: string;
}

/** A response header of success as documents show it. */
export interface AnswerHeader {
  readonly description: string;
  readonly schema: v.GenericSchema;
  /** Not on every success; on every one when not given. */
  readonly optional?: boolean;
}

export type ExampleValues = Readonly<Record<string, string | number | boolean>>;

/** The path exists only for requests whose header matches; for any other request it is unknown (RFC 9110 §12.5). */
export interface Variant {
  /** Lower case; also named in `Vary`. */
  readonly header: string;
  matches(value: string | null): boolean;
}

export interface Contract {
  /** Unique on a surface; `operationId` of OpenAPI and the operation's name in metrics and log. */
  readonly operation: string;
  readonly method: Method;
  /** Below the surface's mount: fixed, or with `:name` segments. */
  readonly path: `/${string}`;
  readonly summary: string;
  readonly description?: string;
  /** Schema of the query, strict: unknown and repeated names are refused. */
  readonly query?: QuerySchema | undefined;
  /** In place of `query`, where the handler reads it: unknown names are ignored and no value is refused. */
  readonly lenientQuery?: Readonly<Record<string, LenientParameter>>;
  /** Schemas of path parameters, by name; plain text when not given. */
  readonly params?: Readonly<Record<string, v.GenericSchema>>;
  /** Schema of the body by media type or range. Every body may be left out. */
  readonly bodies?: Readonly<Record<string, v.GenericSchema>>;
  /** Status of success; 200 when not given. */
  readonly status?: 200 | 201;
  /** Schema of the success body, closed. */
  readonly answer: v.GenericSchema;
  /** Media type of success without its parameters; JSON when not given. For other types documents leave the schema out. */
  readonly answerType?: string;
  /** Headers that the handler adds to success, by name. */
  readonly answerHeaders?: Readonly<Record<string, AnswerHeader>>;
  /** Schemas of further bodies that are no errors, by status. */
  readonly otherAnswers?: Readonly<Record<number, v.GenericSchema>>;
  /** `cache-control` of success; answers that a way in keeps private are `private, no-store`. */
  readonly cacheControl?: string;
  /** Codes that the handler may refuse with; those of decoding and of the ways in follow from the rest. */
  readonly errors: readonly ErrorCode[];
  /** Examples of input; those of bodies by media type. */
  readonly examples?: {
    readonly params?: ExampleValues;
    readonly query?: ExampleValues;
    readonly bodies?: Readonly<Record<string, unknown>>;
    /** A body of success. */
    readonly answer?: unknown;
  };
  /** For a document about the API itself. */
  readonly relation?: ServiceRelation;
  /** For a path that exists for some requests only, such as a page for browsers. */
  readonly variant?: Variant;
}
