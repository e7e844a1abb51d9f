/** The contract of an operation: its input, its answers and its documentation. */
import type * as v from 'valibot';
import type { ErrorCode } from './errors.ts';
import type { QuerySchema } from './query.ts';

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The link relation (RFC 8631) by which the API catalogue links to a document about the API. */
export type ServiceRelation = 'service-desc' | 'service-doc' | 'service-meta' | 'status';

/** A query parameter of a route whose handler reads the query itself. */
export interface LenientParameter {
  /** The documented values; the handler accepts others too, as `rule` explains. */
  readonly schema: v.GenericSchema;
  /** One whole sentence. */
  readonly rule: string;
}

/** A response header of success as documents show it. */
export interface AnswerHeader {
  readonly description: string;
  readonly schema: v.GenericSchema;
  /** True: only some successes carry it. */
  readonly optional?: boolean;
}

export type ExampleValues = Readonly<Record<string, string | number | boolean>>;

/** Limits a path to requests with a matching header; for other requests the path does not exist (RFC 9110 §12.5). */
export interface Variant {
  /** Lower case; responses name it in `Vary`. */
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
  /**
   * True: the path's parameters are percent-decoded once; a path whose parameter cannot be decoded does not exist. Otherwise
   * they stay as sent.
   */
  readonly decodesParams?: boolean;
  /** Schema of the query, strict: unknown and repeated names are refused. */
  readonly query?: QuerySchema | undefined;
  /** Replaces `query` where the handler reads the query itself, ignores unknown names and refuses no value. */
  readonly lenientQuery?: Readonly<Record<string, LenientParameter>>;
  /** Schemas of path parameters, by name; plain text when not given. */
  readonly params?: Readonly<Record<string, v.GenericSchema>>;
  /** Schema of the body by media type or range. A request may omit the body unless a schema has a required member. */
  readonly bodies?: Readonly<Record<string, v.GenericSchema>>;
  /** Status of success; 200 when not given. */
  readonly status?: 200 | 201;
  /** Schema of the success body, closed. */
  readonly answer: v.GenericSchema;
  /** Media type of success without its parameters; JSON when not given. Documents show a schema for JSON only. */
  readonly answerType?: string;
  /** Headers that the handler adds to success, by name. */
  readonly answerHeaders?: Readonly<Record<string, AnswerHeader>>;
  /** Schemas of further bodies that are not errors, by status. */
  readonly otherAnswers?: Readonly<Record<number, v.GenericSchema>>;
  /** `cache-control` of success; operations with a private way in send `private, no-store` instead. */
  readonly cacheControl?: string;
  /** True: it answers 304 without a body to an `If-None-Match` that lists the answer's entity tag (RFC 9110 §13.1.2). */
  readonly isConditional?: boolean;
  /** Codes of the handler's refusals; the codes of decoding and of the ways in follow from the other members. */
  readonly errors: readonly ErrorCode[];
  /** Examples of the input and of the answer; examples of bodies by media type. */
  readonly examples?: {
    readonly params?: ExampleValues;
    readonly query?: ExampleValues;
    readonly bodies?: Readonly<Record<string, unknown>>;
    /** A body of success. */
    readonly answer?: unknown;
    /** Bodies of `otherAnswers`, by status. */
    readonly otherAnswers?: Readonly<Record<number, unknown>>;
  };
  /** Set for a document about the API itself. */
  readonly relation?: ServiceRelation;
  /** Set for a path that exists for some requests only, such as a page for browsers. */
  readonly variant?: Variant;
}
