/**
 * Wraps a measurement that may fail: then the last value is returned. Node reads a file to measure its memory, which a process
 * without a free file descriptor cannot do (reliability 210). The first reading is taken at once, while it still works.
 * @throws what the first `read` throws
 */
export function lastKnown<T>(read: () => T): () => T {
  let last = read();
  return () => {
    try {
      last = read();
    } catch {
      // Keeps the last value.
    }
    return last;
  };
}
