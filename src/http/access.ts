/**
 * Ways in: who has earned an answer. A route lists its ways in as values; each brings its error codes, what documents say
 * of it, and the gate that decides. The kit knows their order and names none of them, so a new way in is a new file in
 * `access/`.
 */
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { HeaderRecord } from './answers.ts';
import type { Contract } from './contract.ts';
import type { ErrorCode, HeaderFacts, Refusal } from './errors.ts';
import type { RequestView } from './request-view.ts';

/**
 * A right to one answer. `settle` is called once, after the answer was computed and before any of it leaves; `release`
 * instead when there is no answer to give. Admissions settle in the reverse of the order in which they were given, so that
 * what was claimed before the payment can still be given back when the payment fails.
 */
export interface Admission<P extends object = object> {
  /** What the gate found out (the callback, the account, the payer), for later gates and for the handler. */
  readonly principal?: P;
  /**
   * @param answer as the handler gave it, for charges that depend on it
   * @returns the receipt (header fields of the answer), nothing, or the refusal that takes the answer's place
   */
  settle?(answer: unknown): MaybePromise<HeaderRecord | Refusal | undefined>;
  /** Never throws; what cannot be given back at once is the store's to give back later. */
  release?(): void;
}

export interface Gate<P extends object = object> {
  /**
   * Synchronous where it can be: an unpaid offer must not pay for a promise.
   * @param principal what the gates before this one found out
   * @returns an admission, a refusal, or nothing for "go on, nothing is held"
   */
  admit(request: RequestView, principal: object): MaybePromise<Admission<P> | Refusal | undefined>;
}

/** Where an operation is mounted. */
export interface Mount {
  /** Labels of its metrics beside `operation`: `surface`, for all but the base. */
  readonly labels: Readonly<Record<string, string>>;
  /** Public address of the surface, no trailing slash. */
  readonly baseUrl: string;
}

type JsonSchema = Readonly<Record<string, unknown>>;

/** What documents say of a way in. */
export interface AccessDocumentation {
  /** One sentence for people and language models, such as "Costs 0.02 USDC"; none for what needs no mention. */
  readonly sentence?: string;
  /** How to use the way in: a paragraph that stands once in a document. */
  readonly guide?: string;
  /** OpenAPI security scheme by name. */
  readonly security?: { readonly name: string; readonly scheme: JsonSchema };
  /** OpenAPI parameters. */
  readonly parameters?: readonly JsonSchema[];
  /** Further members of the OpenAPI operation. */
  readonly operation?: JsonSchema;
  /** Headers of success. */
  readonly answerHeaders?: Readonly<Record<string, HeaderFacts>>;
  /** Further members of error bodies by status: properties of JSON Schema, all required. */
  readonly errorMembers?: Readonly<Record<number, JsonSchema>>;
  /** Components that the above refer to. */
  readonly schemas?: Readonly<Record<string, JsonSchema>>;
}

/**
 * @typeParam P what its admissions say of the requester
 * @typeParam S services that its gate needs; the module that lists the way in provides them
 */
export interface Access<P extends object = object, S = never> {
  /** Codes that the gate refuses with. */
  readonly errors: readonly ErrorCode[];
  readonly documentation: AccessDocumentation;
  /** True: the gate decides before the input is looked at (an API key); otherwise after it (a payment). */
  readonly isBeforeInput?: boolean;
  /** True: answers are the requester's alone and are never stored on the way. */
  readonly isPrivate?: boolean;
  /** Whether the request carries this way in's credential; asked where it is one of several alternatives. */
  isPresented?(request: RequestView): boolean;
  /** @throws Error at start when the operation cannot be served in this way */
  readonly open: (services: S, contract: Contract, mount: Mount) => Gate<P>;
}

/**
 * Several ways in of which a request takes one: the first whose credential it carries, else the last. "A key or a payment"
 * is `anyOf(apiKey('retries:write'), paid('retry'))`: with a key, a payment header is not looked at.
 */
export interface Alternatives<P extends object = object, S = never> {
  readonly anyOf: readonly Access<P, S>[];
}

type Principal<A> = A extends Access<infer P, never> ? P : never;
type Services<A> = A extends Access<object, infer S> ? (services: S) => void : never;
type Both<U> = U extends (services: infer S) => void ? S : never;

export function anyOf<const A extends readonly Access[]>(
  ...ways: A
): Alternatives<Principal<A[number]>, Both<Services<A[number]>>> {
  return { anyOf: ways as never };
}

/** An entry of a route's list of ways in. */
export type WayIn<P extends object = object, S = never> = Access<P, S> | Alternatives<P, S>;

/** Every way in that the list names, alternatives included. */
export const waysIn = (access: readonly WayIn[]): readonly Access[] =>
  access.flatMap((way) => ('anyOf' in way ? way.anyOf : [way]));

/** What a handler learns from all ways in of its route together. */
export type PrincipalOf<A extends readonly unknown[]> = A extends readonly [infer First, ...infer Rest]
  ? (First extends WayIn<infer P, never> ? P : object) & PrincipalOf<Rest>
  : object;
