/** Answers that a port gives now or later. A caller that uses {@link chain} pays for a promise only when there is one. */
export type MaybePromise<T> = T | Promise<T>;

/** Calls `next` with the value: in the same turn when it is there, otherwise when the promise resolves. */
export function chain<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
