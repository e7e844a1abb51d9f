/**
 * Jobs of a page as JSON text (`JobRecord[]`, siblings §4), written from the snapshot's columns: byte for byte what
 * JSON.stringify makes of `jobRecordOf`, but without allocating an object, a string or a date for each value
 * (docs/benchmarks.md).
 */
import { Buffer } from 'node:buffer';
import {
  ESCAPE_LENGTH_MAX,
  JSON_TIME_LENGTH_MAX,
  jsonPiece,
  pieceInto,
  stringInto,
  timeInto,
} from '../../base/json-bytes.ts';
import { KeptBytes } from '../../base/kept-bytes.ts';
import { memoizeByObject } from '../../base/memoize-by-object.ts';
import { EMPLOYMENT_TYPES, REMOTE_STATUSES } from '../../catalogue/job.ts';
import type { JobPage } from '../../catalogue/listing/listing-answers.ts';
import type { RowTexts } from '../../catalogue/snapshot/cold-rows.ts';
import type { Snapshot } from '../../catalogue/snapshot/snapshot.ts';
import type { TextColumn } from '../../catalogue/snapshot/text-column.ts';

const NULL = jsonPiece('null');
const ID = jsonPiece(',{"id":');
const TITLE = jsonPiece(',"title":');
const COMPANY = jsonPiece(',"company":');
const DOMAIN = jsonPiece(',"company_domain":');
const LOCATION = jsonPiece(',"location":');
/** By remote status, then by employment type. */
const KINDS = REMOTE_STATUSES.map((remote) =>
  EMPLOYMENT_TYPES.map((type) => jsonPiece(`,"remote_status":"${remote}","employment_type":"${type}","source_url":`)),
);
const LAST_OBSERVED = jsonPiece(',"last_observed_at":');
const DEPARTMENT = jsonPiece(',"department":');
const SKILLS = jsonPiece(',"skills":[');
const FIRST_OBSERVED = jsonPiece('],"first_observed_at":');
const ACTIVE = jsonPiece(',"status":"active"}');
const CLOSED = jsonPiece(',"status":"closed"}');

/** An upper bound on all names, values of closed lists, quotes and commas of a record without its skills. */
const FRAME_BYTES_MAX = 512 + 2 * JSON_TIME_LENGTH_MAX;
const PAGE_BYTES = 2 ** 16;
/** The memory of a larger page is not reused. */
const KEPT_PAGE_BYTES_MAX = 2 ** 20;

/** Scratch memory of one page. */
let page = Buffer.allocUnsafeSlow(PAGE_BYTES);

/** Cache of recently shown records: some thirty thousand, few of which share a slot. */
const KEPT_BYTES = 2 ** 24;
const KEPT_SLOTS = 2 ** 18;

/** Writes the records of a snapshot as text. */
export class RecordTexts {
  readonly #snapshot: Snapshot;
  readonly #kept: KeptBytes;

  /** @param keptBytes, keptSlots bounds of the cached records, as for `KeptBytes` */
  constructor(snapshot: Snapshot, keptBytes = KEPT_BYTES, keptSlots = KEPT_SLOTS) {
    this.#snapshot = snapshot;
    this.#kept = new KeptBytes(keptBytes, keptSlots);
  }

  /** Whether the text of a row is cached, so that it needs nothing from the file. */
  readonly has = (row: number): boolean => this.#kept.has(row);

  /**
   * The array of a page's records, without its brackets.
   * @param page made with `has` just before this call
   */
  textOf({ rows, read, texts }: JobPage): string {
    let end = 0;
    let place = 0;
    const written: number[] = [];
    for (const row of rows) {
      if (this.#kept.has(row)) {
        makeRoom(end, this.#kept.lengthOf(row));
        end = this.#kept.copyInto(row, page, end);
      } else {
        makeRoom(end, lengthMaxOf(this.#snapshot, row, texts.places[3 * place + 2]! - texts.places[3 * place]!));
        const start = end;
        end = recordInto(page, start, this.#snapshot, row, texts, 3 * place);
        written.push(row, start, end);
      }
      if (read[place] === row) place++;
    }
    // Only now, because caching a record may evict another of the same page.
    for (let i = 0; i < written.length; i += 3) this.#kept.keep(written[i]!, page, written[i + 1]!, written[i + 2]!);
    // Each record begins with a comma.
    const text = page.toString('utf8', Math.min(end, 1), end);
    if (page.length > KEPT_PAGE_BYTES_MAX) page = Buffer.allocUnsafeSlow(PAGE_BYTES);
    return text;
  }
}

/** The record texts of a snapshot; dropped with it. */
export const recordTextsOf = memoizeByObject((snapshot: Snapshot) => new RecordTexts(snapshot));

/** Makes room for `count` more bytes in the page. */
function makeRoom(end: number, count: number): void {
  if (end + count <= page.length) return;
  const larger = Buffer.allocUnsafeSlow((end + count) * 2);
  larger.set(page.subarray(0, end));
  page = larger;
}

/** An upper bound on the bytes of a record. @param coldLength of its id and its source URL */
function lengthMaxOf(snapshot: Snapshot, row: number, coldLength: number): number {
  const { companyKeys, departments, employerNames, locations, skillNames, skills, skillOffsets, titles } = snapshot;
  const employer = snapshot.employer[row]!;
  let length =
    coldLength +
    titles.lengthOf(snapshot.title[row]!) +
    employerNames.lengthOf(employer) +
    companyKeys.lengthOf(snapshot.employerCompany[employer]!) +
    locations.lengthOf(snapshot.location[row]!) +
    departments.lengthOf(snapshot.department[row]!);
  const [first, past] = [skillOffsets[row]!, skillOffsets[row + 1]!];
  for (let at = first; at < past; at++) length += skillNames.lengthOf(skills[at]!);
  return FRAME_BYTES_MAX + length * ESCAPE_LENGTH_MAX + (past - first) * 3;
}

/** @param place of the row in `texts.places` */
function recordInto(
  into: Buffer,
  start: number,
  snapshot: Snapshot,
  row: number,
  { bytes, places }: RowTexts,
  place: number,
): number {
  const url = places[place + 1]!;
  let at = stringInto(into, pieceInto(into, start, ID), bytes, places[place]!, url);
  at = textInto(into, pieceInto(into, at, TITLE), snapshot.titles, snapshot.title[row]!);
  const employer = snapshot.employer[row]!;
  at = textInto(into, pieceInto(into, at, COMPANY), snapshot.employerNames, employer);
  const company = snapshot.employerCompany[employer]!;
  at = pieceInto(into, at, DOMAIN);
  if (snapshot.companyHasDomain[company] === 1) at = textInto(into, at, snapshot.companyKeys, company);
  else at = pieceInto(into, at, NULL);
  at = recordedInto(into, pieceInto(into, at, LOCATION), snapshot.locations, snapshot.location[row]!);
  at = pieceInto(into, at, KINDS[snapshot.remoteStatus[row]!]![snapshot.employmentType[row]!]!);
  at = stringInto(into, at, bytes, url, places[place + 2]!);
  at = timeInto(into, pieceInto(into, at, LAST_OBSERVED), snapshot.lastObserved[row]!);
  at = recordedInto(into, pieceInto(into, at, DEPARTMENT), snapshot.departments, snapshot.department[row]!);
  at = skillsInto(into, pieceInto(into, at, SKILLS), snapshot, row);
  at = timeInto(into, pieceInto(into, at, FIRST_OBSERVED), snapshot.firstObserved[row]!);
  return pieceInto(into, at, row < snapshot.activeCount ? ACTIVE : CLOSED);
}

const textInto = (into: Buffer, at: number, column: TextColumn, code: number): number =>
  stringInto(into, at, column.bytes, column.startOf(code), column.endOf(code));

/** @param code 0 = not recorded */
const recordedInto = (into: Buffer, at: number, column: TextColumn, code: number): number =>
  code === 0 ? pieceInto(into, at, NULL) : textInto(into, at, column, code);

function skillsInto(into: Buffer, start: number, { skillNames, skillOffsets, skills }: Snapshot, row: number): number {
  const [first, past] = [skillOffsets[row]!, skillOffsets[row + 1]!];
  let at = start;
  for (let i = first; i < past; i++) {
    if (i > first) into[at++] = 0x2c; // a comma
    at = textInto(into, at, skillNames, skills[i]!);
  }
  return at;
}
