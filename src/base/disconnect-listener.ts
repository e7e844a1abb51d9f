/** Learns that a client has disconnected. An object instead of a closure, because thousands of waits each hold one. */
export interface DisconnectListener {
  /** True once the listener no longer needs the event; it may be dropped. */
  readonly isOver: boolean;
  /** The client has disconnected. Named as in DOM event listeners, so that an AbortSignal can call it. */
  handleEvent(): void;
}
