/**
 * An outage: something outside that a request needs, such as the state's disk or database, cannot be used now. It is neither a
 * bug nor a fault of the request, and the same request may succeed later. Ports reject with it, and the app turns it into an
 * answer.
 */
export class OutageError extends Error {
  override readonly name: string = 'OutageError';
}

/** The store could not confirm a record, which may exist all the same. After any other rejection it does not exist. */
export class RecordInDoubtError extends OutageError {
  override readonly name = 'RecordInDoubtError';
}
