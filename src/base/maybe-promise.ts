/** A result that a port gives now or later. {@link chain} allocates a promise only for a later one. */
export type MaybePromise<T> = T | Promise<T>;

/** Calls `next` with the value: in the same turn when it is there, otherwise when the promise resolves. */
export function chain<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
