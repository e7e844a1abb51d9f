/** A snapshot that cannot be built, read or written. The message is one line for the operator. */
export class SnapshotError extends Error {
  override readonly name = 'SnapshotError';
}

/** The content of a snapshot is damaged, cut or of another format: reading the same bytes again gives the same refusal. */
export class DamagedSnapshotError extends SnapshotError {}

/** The snapshot's file changed after it was opened, so its ids and URLs no longer fit the loaded columns. */
export class SnapshotChangedError extends Error {
  override readonly name = 'SnapshotChangedError';
}

/** Makes the refusal of one source; `reason` completes "<name>: ...". */
export type Refuse = (reason: string) => SnapshotError;

/** An earlier snapshot contradicts its header or list, so the build starts from nothing. */
export class EarlierSnapshotError extends SnapshotError {}
