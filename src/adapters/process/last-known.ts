/**
 * A measurement that may fail: the last value stands in for it. Node reads a file to measure its memory, which a process
 * without a free file descriptor cannot do (reliability 210). It is read at once for the first time, while that can be done.
 * @throws what the first `read` throws
 */
export function lastKnown<T>(read: () => T): () => T {
  let last = read();
  return () => {
    try {
      last = read();
    } catch {
      // The last one.
    }
    return last;
  };
}
