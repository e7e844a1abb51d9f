/** The server cannot start on its state folder; the message is one line. */
export class StateError extends Error {
  override readonly name = 'StateError';
}
