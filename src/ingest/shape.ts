/**
 * What a source shape is: how the records of one document are found, and how one record becomes a native record. Both
 * are pure. A shape says only what the source says: what is missing stays null or unknown, and nothing is read out of
 * free text. The list of shapes is in shapes.ts.
 */
import type { Board, BoardManifest } from './board-manifest.ts';
import type { NativeRecord, Refused } from './native.ts';

export interface ShapeContext {
  /** The last part of the document's path, as it stands; null for stdin. */
  readonly fileName: string | null;
  /** When the documents were fetched, milliseconds since the epoch, UTC. */
  readonly observedAtMs: number;
  /** From the command line: holds for every record, before the manifest. */
  readonly board: Board;
  readonly manifest: BoardManifest;
}

export type Records =
  | { readonly ok: true; readonly records: readonly unknown[] }
  | { readonly ok: false; readonly reason: string };

export type Shaped = { readonly ok: true; readonly record: NativeRecord } | Refused;

export interface Shape {
  /** As `--format` has it. */
  readonly name: string;
  /** One line for the help. */
  readonly summary: string;
  /** A document is one board's, so that a company, a domain, a manifest and an observation time can be given. */
  readonly perBoard: boolean;
  /** The records of one parsed JSON document. `reason` completes "this file …". */
  recordsOf(document: unknown): Records;
  /** The field that is named in a refusal is the source's. */
  nativeOf(record: unknown, context: ShapeContext): Shaped;
}

/** The source's own id, for a message about a record that may be broken. */
export function sourceIdOf(record: unknown): string | undefined {
  if (typeof record !== 'object' || record === null || !('id' in record)) return undefined;
  return typeof record.id === 'string' || typeof record.id === 'number' ? String(record.id) : undefined;
}

/** Places as one location text, in order, each once; null when there is none. */
export function joinedPlaces(places: readonly (string | null | undefined)[]): string | null {
  const distinct = new Set<string>();
  for (const place of places) {
    const text = place?.trim();
    if (text) distinct.add(text);
  }
  return distinct.size === 0 ? null : [...distinct].join('; ');
}
