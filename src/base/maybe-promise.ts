/** A result that a port gives now or later. {@link chain} allocates a promise only for a later one. */
export type MaybePromise<T> = T | Promise<T>;

/** Calls `next` with the value: in the same turn if it is there, otherwise when the promise resolves. */
export function chain<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** As {@link chain}, with one more argument for `next` in place of a closure, which would be allocated even when nothing waits. */
export function chainWith<G, T, R>(
  given: G,
  value: MaybePromise<T>,
  next: (given: G, value: T) => MaybePromise<R>,
): MaybePromise<R> {
  return value instanceof Promise ? chainLater(given, value, next) : next(given, value);
}

const chainLater = <G, T, R>(given: G, value: Promise<T>, next: (given: G, value: T) => MaybePromise<R>): Promise<R> =>
  value.then((later) => next(given, later));
