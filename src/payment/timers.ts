/** Delay as a port: the domain asks to be called later, an adapter does it. */
export interface Timers {
  /** Calls `run` once after `delayMs`, unless the returned function is called first. Does not keep a process alive. */
  after(delayMs: number, run: () => void): () => void;
}
