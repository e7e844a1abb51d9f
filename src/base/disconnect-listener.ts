/** Wants to know when a client goes away. */
export interface DisconnectListener {
  /** True once the listener no longer needs the event. */
  readonly isOver: boolean;
  /** The client went away. The name is the one that event targets call. */
  handleEvent(): void;
}
