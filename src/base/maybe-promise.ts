/** Values that are there now or come later. What can be answered without waiting must not pay for a promise. */
export type MaybePromise<T> = T | Promise<T>;

/** Hands `value` to `next`: in the same turn when it is there, else when it comes. */
export function chain<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
