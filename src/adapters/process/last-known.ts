/**
 * A measurement that may fail: the last value stands in for it. Node reads a file to measure its memory, which a process
 * without a free file descriptor cannot do (reliability 210).
 * @throws what `read` throws, as long as it has given no value
 */
export function lastKnown<T>(read: () => T): () => T {
  let last: { readonly value: T } | undefined;
  return () => {
    try {
      last = { value: read() };
    } catch (failure) {
      if (last === undefined) throw failure;
    }
    return last.value;
  };
}
