/**
 * What a source shape is: how to find the records of a document, how to recognise a record, and how to make one a
 * native record. All are pure. A shape states only what the source states: a missing value stays null or unknown, and
 * free text is never interpreted. define-shape.ts makes a shape from its mapping; the list of shapes is in shapes.ts.
 *
 * A shape does not know how its records were packed: a JSON document, JSON Lines, CSV, Parquet and the JSON-LD of an HTML
 * page all give records (source-content.ts).
 */
import type { SourceRecord } from '../input/source-field.ts';
import type { NativeRecord, Refused } from '../native.ts';
import type { BoardEntry, BoardManifest } from './board-manifest.ts';

/** What a document states about all of its records. */
export interface Envelope {
  /** The board's token, when the document names it. */
  readonly board: string | null;
  readonly company: string | null;
  /** Address of the page or board that the records are from. */
  readonly url: string | null;
  /** When it was fetched, milliseconds since the epoch. */
  readonly fetchedAtMs: number | null;
}

export const NO_ENVELOPE: Envelope = { board: null, company: null, url: null, fetchedAtMs: null };

export interface ShapeContext {
  /** The last part of the document's path, unchanged; null for stdin. */
  readonly fileName: string | null;
  /** When the documents were fetched, milliseconds since the epoch, UTC. */
  readonly observedAtMs: number;
  /** From the command line: holds for every record, before the manifest. */
  readonly board: BoardEntry;
  readonly manifest: BoardManifest;
  /** What is known of a watched board of this shape; a visit gives it as `board`. */
  readonly watched?: (token: string) => BoardEntry | undefined;
  /**
   * The board that was fetched: every record belongs to it, whatever board its addresses name. Absent: the record says which.
   */
  readonly token?: string;
  /** Absent: the document has nothing but its records. */
  readonly envelope?: Envelope;
}

export type Records =
  | {
      readonly ok: true;
      readonly records: readonly unknown[];
      readonly envelope?: Envelope;
      /**
       * Rows that were joined into other rows' records, such as one job in two places that the document lists twice.
       */
      readonly joinedRows?: number;
    }
  | { readonly ok: false; readonly reason: string };

export type Shaped =
  /** `board` names the list that the record is from, within its shape: a feed is the listing of one board at one time. */
  | {
      readonly ok: true;
      readonly record: NativeRecord;
      readonly board: string;
      /** Where to apply; absent or null: at the posting's own address, or unknown. */
      readonly applyUrl?: string | null;
    }
  | RefusedRecord;

/** A record that the shape refuses, with what is known of its job. */
export interface RefusedRecord extends Refused {
  readonly board?: string;
  /** The id that the job would have. */
  readonly id?: string;
  /** The source says that the posting is not public, which counts as missing. */
  readonly isUnlisted?: true;
}

export interface Shape {
  /** The value of `--format`. */
  readonly name: string;
  /** One line for the help. */
  readonly summary: string;
  /** A document is one board's, so that the operator can give its company, domain and manifest. */
  readonly perBoard: boolean;
  /**
   * What determines when a posting was last seen. `reader`: the time at which the file was fetched. `source`: each record.
   */
  readonly observedBy: 'reader' | 'source';
  /** The fields by which it is recognised, for the message that no shape was recognised. */
  readonly marks: string;
  /** The records of one parsed JSON document. `reason` completes "this file …". */
  recordsOf(document: unknown): Records;
  /** Whether a record has this shape, by its fields alone. */
  recognises(record: SourceRecord): boolean;
  /** Whether a document without a single record is this shape's answer for an empty board. */
  claims?(document: SourceRecord): boolean;
  /** A refusal names the source's field. */
  nativeOf(record: unknown, context: ShapeContext): Shaped;
}
