/**
 * One declaration for each operation: its contract, its ways in and its handler. Query decoding, the 400s, access, the offer,
 * discovery, OpenAPI and the contract tests all read this object, and none has a copy.
 */
import type * as v from 'valibot';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { PrincipalOf, WayIn } from './access.ts';
import type { AfterSettlement, JsonText, Reply } from './answers.ts';
import type { Contract } from './contract.ts';
import type { ErrorCode, Refusal } from './errors.ts';
import type { DeferredAnswer } from './hot/deferred-answer.ts';
import type { Parameters, QuerySchema } from './query.ts';
import type { ReadBody, RequestView } from './request-view.ts';

type QueryInput<Q> = Q extends v.GenericSchema ? v.InferOutput<Q> : Record<never, never>;
type BodyInput<B> = [B] extends [undefined] ? Record<never, never> : { readonly body: B };

/** The draft that a principal may give back; none where it gives none. */
type DraftOf<P> = P extends { readonly draft?: infer D } ? D : undefined;

type Handled<T, C extends string, P> = T | JsonText | Reply | AfterSettlement<T, DraftOf<P>> | Refusal<C>;

/** A route as its file writes it. */
interface Declaration<
  S,
  W extends readonly WayIn<object, S>[],
  Q extends QuerySchema | undefined,
  B,
  A extends v.GenericSchema,
  C extends string,
> extends Contract {
  /** Ways in, in the order of their admitters, each after those whose principal it needs; an empty list is open to all. */
  readonly access: W & ([PrincipalOf<W>] extends [never] ? never : unknown);
  readonly query?: Q;
  readonly answer: A;
  readonly errors: readonly ErrorCode<C>[];
  /** Checks of the decoded query that a schema cannot make: by services, or together with the path. Runs right after decoding. */
  check?(input: Readonly<QueryInput<Q>>, services: S, request: RequestView): Refusal<NoInfer<C>> | undefined;
  /** Refuses while the operation cannot answer, after the query and before any payment. */
  ready?(services: S): Refusal<NoInfer<C>> | undefined;
  /**
   * Reads and checks a body that is input, after the query and before any payment; the handler receives its input as
   * `input.body`. A handler reads a body that is data (a webhook's) itself.
   */
  readBody?(request: RequestView, services: S): MaybePromise<(ReadBody & { readonly body: B }) | Refusal<NoInfer<C>>>;
  handle(
    /** Requests with the same query share it; never modify it. */
    input: Readonly<QueryInput<Q> & BodyInput<B>>,
    services: S,
    request: RequestView,
    /** Facts about the requester, from the ways in. */
    principal: PrincipalOf<W>,
  ):
    | MaybePromise<Handled<v.InferInput<A>, NoInfer<C>, PrincipalOf<W>>>
    | DeferredAnswer<v.InferInput<A> | Reply | Refusal<NoInfer<C>>>;
}

/** A declaration as the kit sees it, without the types of its handler. */
export interface Route<S = never> extends Contract {
  readonly access: readonly WayIn<object, S>[];
  readonly check?: (input: Parameters, services: S, request: RequestView) => Refusal | undefined;
  readonly ready?: (services: S) => Refusal | undefined;
  readonly readBody?: (request: RequestView, services: S) => MaybePromise<ReadBody | Refusal>;
  readonly handle: (input: Parameters, services: S, request: RequestView, principal: object) => unknown;
}

/** `route<Services>()({...})`: the first call gives the type of the services, the second infers all other types. */
export function route<S>() {
  return <
    const W extends readonly WayIn<object, S>[],
    A extends v.GenericSchema,
    const Q extends QuerySchema | undefined = undefined,
    B = undefined,
    C extends string = never,
  >(
    declaration: Declaration<S, W, Q, B, A, C>,
  ): Route<S> => declaration as unknown as Route<S>;
}
