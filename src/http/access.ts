/**
 * Ways in decide which requests get an answer. A route lists its ways in as values; each brings its error codes, its part of
 * the documents, and the admitter that decides. The kit knows their order and none of their kinds, so a new way in is a new file
 * in `access/`.
 */
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { AfterSettlement, Answer, AnswerBody, HeaderRecord } from './answers.ts';
import type { Contract } from './contract.ts';
import type { ErrorCode, HeaderFacts, Refusal } from './errors.ts';
import type { ReadBody, RequestView } from './request-view.ts';

/**
 * A right to one answer. The kit calls `settle` once, after the handler has answered and before any of the answer leaves, or
 * `release` when there is no answer. Admissions settle in the reverse order of the admitters. An admission without `settle`, such
 * as a claim of capacity, is released when any other refuses to settle, in whatever order their admitters stand.
 */
export interface Admission<P extends object = object> {
  /** Facts about the requester (the callback, the account, the payer), for later admitters and for the handler. */
  readonly principal?: P;
  /**
   * @param answer what will leave, or what will create it after the settlement
   * @returns the receipt (header fields of the answer), nothing, or a refusal that replaces the answer
   */
  settle?(answer: AnswerBody | AfterSettlement<unknown>): MaybePromise<HeaderRecord | Refusal | undefined>;
  /**
   * Called with the body of an answer that was created after the settlement, and its draft, before it leaves; one admission after
   * the other, in the order of the admitters. A failure changes no outcome.
   */
  created?(body: AnswerBody, draft: unknown): MaybePromise<void>;
  /**
   * Called once after the answer was handed whole to a connection that was still there. Never for a refusal. Must not wait,
   * and must hold no part of the request, because it may outlive the request.
   */
  readonly delivered?: (() => void) | undefined;
  /** The refusal is sent after this is done. A failure goes to the log and changes no outcome. */
  release?(): MaybePromise<void>;
}

export interface Admitter<P extends object = object, N extends object = object> {
  /**
   * Answers synchronously where it can, because a promise would be a large part of the cost of an unpaid offer.
   * @param principal the facts that earlier admitters gave, among them those that this admitter needs
   * @param read with nothing in it before a body is read
   * @returns an admission, a refusal, or undefined: the request passes, and there is nothing to settle or release; or the
   *   answer itself, when it exists already and this requester has a right to it
   */
  admit(request: RequestView, principal: N, read: ReadBody): MaybePromise<Admission<P> | Refusal | Answer | undefined>;
}

/** The surface that serves an operation. */
export interface Mount {
  /** Labels of its metrics beside `operation`: `surface`, for all but the base. */
  readonly labels: Readonly<Record<string, string>>;
  /** Public address of the surface, no trailing slash. */
  readonly baseUrl: string;
}

type JsonSchema = Readonly<Record<string, unknown>>;

/** How documents describe a way in. */
export interface AccessDocumentation {
  /** One sentence for people and language models, such as "Costs 0.02 USDC", without a full stop; absent if none is needed. */
  readonly sentence?: string;
  /** How to use the way in: a paragraph that appears once in each document. */
  readonly guide?: string;
  /** OpenAPI security scheme by name. */
  readonly security?: {
    readonly name: string;
    readonly scheme: JsonSchema;
    /** What the credential has to permit (OpenAPI 3.1, Security Requirement Object). */
    readonly scopes?: readonly string[];
  };
  /** OpenAPI parameters. */
  readonly parameters?: readonly JsonSchema[];
  /** Further members of the OpenAPI operation. */
  readonly operation?: JsonSchema;
  /** Headers of success. */
  readonly answerHeaders?: Readonly<Record<string, HeaderFacts>>;
  /** Further members of error bodies by status: properties of JSON Schema, all required. */
  readonly errorMembers?: Readonly<Record<number, JsonSchema>>;
  /** OpenAPI schemas that the members above refer to. */
  readonly schemas?: Readonly<Record<string, JsonSchema>>;
}

/**
 * A way in.
 * @typeParam P principal that its admissions give
 * @typeParam S services that its admitter needs; the module that lists the way in provides them
 * @typeParam N principal that its admitter needs; ways in before it in the list provide it
 */
export interface Access<P extends object = object, S = never, N extends object = object> {
  /** Codes that the admitter refuses with. */
  readonly errors: readonly ErrorCode[];
  /** Those for a request without the credential, which among alternatives only the last one receives. */
  readonly errorsWithout?: readonly ErrorCode[];
  readonly documentation: AccessDocumentation;
  /** True: the admitter decides before the kit decodes the input (an API key); otherwise after it (a payment). */
  readonly isBeforeInput?: boolean;
  /** True: answers are for this requester only, so no cache may store them. */
  readonly isPrivate?: boolean;
  /** This way in bound to a server's services, so that documents state that server's terms (a price). */
  boundTo?(services: S): Access<P, S, N>;
  /** Whether the request carries the credential of this way in. Alternatives need it, all but the last. */
  isPresented?(request: RequestView): boolean;
  /** Makes the admitter of one operation. @throws Error at start when the operation cannot have this way in */
  readonly open: (services: S, contract: Contract, mount: Mount) => Admitter<P, N>;
}

/**
 * Several ways in of which a request uses one: the first whose credential it carries, else the last. "A key or a payment"
 * is `anyOf(apiKey('retries:write'), paid('0.001'))`; where the request has a key, its payment header is ignored.
 */
export interface Alternatives<P extends object = object, S = never, N extends object = object> {
  readonly anyOf: readonly Access<P, S, N>[];
}

type Principal<A> = A extends Access<infer P, never> ? P : never;
type TakesServices<A> = A extends Access<object, infer S> ? (services: S) => void : never;
type TakesPrincipal<A> = A extends Access<object, never, infer N> ? (principal: N) => void : never;
/** What a value must be to be taken by each of the functions. Without the brackets: by any of them. */
type TakenByAll<F> = [F] extends [(given: infer T) => void] ? T : never;

/** @throws Error for fewer than two ways in, and where the credential of one that is not the last cannot be recognized */
export function anyOf<const A extends readonly Access[]>(
  ...ways: A
): Alternatives<
  Principal<A[number]>,
  TakenByAll<TakesServices<A[number]>>,
  TakenByAll<TakesPrincipal<A[number]>> & object
> {
  if (ways.length < 2) throw new Error('anyOf needs two ways in');
  if (ways.slice(0, -1).some(({ isPresented }) => isPresented === undefined)) {
    throw new Error('anyOf needs isPresented of every way in but the last');
  }
  return { anyOf: ways as never };
}

/** An entry of a route's list of ways in. */
export type WayIn<P extends object = object, S = never, N extends object = object> =
  | Access<P, S, N>
  | Alternatives<P, S, N>;

/** Every way in of the list, with the alternatives one by one. */
export const waysIn = <S = never>(access: readonly WayIn<object, S>[]): readonly Access<object, S>[] =>
  access.flatMap((way) => ('anyOf' in way ? way.anyOf : [way]));

/** The codes of an entry. Of its alternatives, all but the last never see a request without their credential. */
export const errorsOfWay = (entry: WayIn): readonly ErrorCode[] =>
  waysIn([entry]).flatMap(({ errors, errorsWithout = [] }, i, ways) =>
    i === ways.length - 1 ? errors : errors.filter((one) => !errorsWithout.includes(one)),
  );

/**
 * The principal that a handler receives: those of all ways in of its route, combined. `never` where a way in does not get
 * from those before it the principal that it needs.
 */
export type PrincipalOf<A extends readonly unknown[], Known = object> = A extends readonly [infer First, ...infer Rest]
  ? First extends WayIn<infer P, never, infer N>
    ? [Known] extends [N]
      ? PrincipalOf<Rest, Known & P>
      : never
    : never
  : Known;
