/** The messages between the main thread and the thread that loads a catalogue. */
import type { CatalogueIndexes } from '../../catalogue/catalogue.ts';
import type { CheckedSnapshot } from '../../catalogue/snapshot/snapshot.ts';

/** What the thread is started with. */
export type LoadingTask =
  /** @member descriptor the main thread's, open until the thread has answered */
  | {
      readonly kind: 'file';
      readonly path: string;
      readonly descriptor: number;
      readonly byteLength: number;
    }
  /** @member nowMs the moment that the sample's times are counted back from */
  | { readonly kind: 'sample'; readonly nowMs: number };

/** A checked snapshot and its indexes, as plain data: the main thread makes a catalogue of them in a moment. */
export interface LoadedCatalogue {
  readonly checked: CheckedSnapshot;
  readonly indexes: CatalogueIndexes;
  /** All bytes of a snapshot that is in no file. */
  readonly bytes: Uint8Array | undefined;
}

export type LoadingMessage =
  /** The first one: this host can run such threads. */
  | { readonly kind: 'started' }
  /** `message` of the SnapshotError, one line. @member isDamaged whether its content is the reason */
  | { readonly kind: 'refused'; readonly message: string; readonly isDamaged: boolean }
  | { readonly kind: 'loaded'; readonly loaded: LoadedCatalogue };

/** Every memory block that a value refers to, once each: what a message transfers instead of copying. */
export function buffersIn(value: unknown): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  const visit = (part: unknown): void => {
    if (ArrayBuffer.isView(part)) buffers.add(part.buffer as ArrayBuffer);
    else if (typeof part === 'object' && part !== null && !(part instanceof Map)) Object.values(part).forEach(visit);
  };
  visit(value);
  return [...buffers];
}
