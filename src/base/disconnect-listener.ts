/** Who wants to know that a client has gone away. */
export interface DisconnectListener {
  /** It is of no interest any more, and need not be told. */
  readonly isOver: boolean;
  /** The client has gone away. Named as event targets call it. */
  handleEvent(): void;
}
