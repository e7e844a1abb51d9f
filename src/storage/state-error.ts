/** The server cannot start on its state folder; the message is one line. */
export class StateError extends Error {
  override readonly name: string = 'StateError';
}

/** Another process holds the state folder. */
export class StateHeldError extends StateError {
  override readonly name = 'StateHeldError';
}
