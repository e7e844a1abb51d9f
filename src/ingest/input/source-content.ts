/**
 * How a member is packed, by its content: JSON Lines, one JSON document, CSV, Parquet, or an HTML page with JSON-LD. Lines and
 * CSV are streamed; a document, a page and a Parquet file are in memory as a whole, at most DOCUMENT_BYTES_MAX.
 *
 * JSON Lines and a document on one line begin alike: a line that is a whole JSON object starts JSON Lines if more lines
 * follow, else it is a document.
 */
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { isObject, parseJson } from '../../base/json-value.ts';
import { MIB } from '../../base/sizes.ts';
import { csvRows } from './csv-rows.ts';
import { type Bytes, CutShortError, InputError, type Member, peek } from './input.ts';
import { parsedJson } from './lenient-json.ts';
import { pageContent } from './page-content.ts';
import type { SourceRecord } from './source-field.ts';

/** Bytes of one document. A record costs about 10 KB with its description, so some 25,000 of them. */
const DOCUMENT_BYTES_MAX = 256 * MIB;
/** Bytes that decide how a member is packed: more than the longest first line of real postings, 200 KiB. */
const HEAD_BYTES = MIB;
/** Characters of one CSV record: the longest real one is under 200,000. */
const CSV_RECORD_LENGTH_MAX = 4 * MIB;

export type Content =
  /** Only blanks. */
  | { readonly kind: 'nothing' }
  /** `head` is the beginning, for its first lines; `bytes` are all bytes. */
  | { readonly kind: 'lines'; readonly head: string; readonly bytes: Bytes }
  | { readonly kind: 'document'; readonly document: unknown }
  /** A page's JSON-LD, parsed, and the page's own address when it states one. */
  | { readonly kind: 'page'; readonly document: readonly unknown[]; readonly url: string | null }
  | { readonly kind: 'table'; readonly rows: AsyncIterable<SourceRecord> }
  /** `reason` completes "this file …". */
  | { readonly kind: 'unreadable'; readonly reason: string };

async function wholeOf(name: string, bytes: Bytes): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    length += chunk.length;
    if (length > DOCUMENT_BYTES_MAX) throw new InputError(`${name}: is longer than ${DOCUMENT_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Whether the text begins JSON Lines: it has at least two lines that are not blank, and the first or second is one object. */
function beginsLines(head: string, complete: boolean): boolean {
  const lines = head.split('\n');
  if (!complete) lines.pop();
  const filled: string[] = [];
  for (const line of lines) {
    if (line.trim() !== '') filled.push(line);
    if (filled.length === 2) break;
  }
  return filled.length === 2 && filled.some((line) => isObject(parseJson(line)));
}

const HIGH = /[\x80-\xff]/g;
const UTF8_SEQUENCE = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}/g;

/** Whether high bytes are mostly whole UTF-8 sequences: a damaged UTF-8 text still is, a Windows-1252 text hardly ever. */
function mostlyUtf8(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  const high = text.match(HIGH)?.length ?? 0;
  const whole = (text.match(UTF8_SEQUENCE) ?? []).reduce((sum, sequence) => sum + sequence.length, 0);
  return whole * 2 > high;
}

/**
 * Decodes bytes as UTF-8, else as Windows-1252. The first chunk with a non-ASCII byte decides, since ASCII is the same
 * in both. In a text that is mostly UTF-8, broken sequences become U+FFFD.
 */
export async function* decodedText(bytes: Bytes): AsyncGenerator<string, void, void> {
  let decoder: TextDecoder | undefined; // chosen at the first byte that is not ASCII
  let tail: Buffer = Buffer.alloc(0); // high bytes at the very end of a chunk, which may be half a sequence
  for await (const chunk of bytes) {
    const all = tail.length === 0 ? chunk : Buffer.concat([tail, chunk]);
    tail = Buffer.alloc(0);
    if (decoder === undefined) {
      const high = all.findIndex((byte) => byte > 0x7f);
      if (high === -1 || high >= all.length - 3) {
        const to = high === -1 ? all.length : high;
        tail = Buffer.from(all.subarray(to));
        yield Buffer.from(all.buffer, all.byteOffset, to).toString('latin1');
        continue;
      }
      decoder = new TextDecoder(mostlyUtf8(all) ? 'utf-8' : 'windows-1252');
    }
    yield decoder.decode(all, { stream: true });
  }
  decoder ??= new TextDecoder(mostlyUtf8(tail) ? 'utf-8' : 'windows-1252');
  yield decoder.decode(tail);
}

/** The separator: the most frequent candidate outside quotes in the first line. */
function delimiterOf(head: string): string | undefined {
  const line = head.slice(0, head.search(/\r?\n|$/)).replace(/"[^"]*"/g, '');
  const counts = [',', ';', '\t', '|'].map((mark) => [mark, line.split(mark).length - 1] as const);
  const [mark, count] = counts.reduce((best, next) => (next[1] > best[1] ? next : best));
  return count >= 1 ? mark : undefined;
}

/** A CSV whose text comes piece by piece; the last, perhaps unfinished row of a piece is carried into the next. */
class CsvTable {
  readonly #name: string;
  readonly #delimiter: string;
  readonly #newline: '\n' | '\r';
  #columns: readonly string[] | undefined;
  #recordCount = 0;
  #hasShortRows = false;
  #rest = '';

  /** @param start its first piece */
  constructor(name: string, delimiter: string, start: string) {
    this.#name = name;
    this.#delimiter = delimiter;
    // Line ends of old spreadsheets: only CR in the whole first piece.
    this.#newline = !start.includes('\n') && start.includes('\r') ? '\r' : '\n';
  }

  /** Of the row that is not among the records yet. */
  get restLength(): number {
    return this.#rest.length;
  }

  *records(piece: string, isLast: boolean): Generator<SourceRecord> {
    const text = this.#rest + piece;
    const { rows, end, isOpen } = csvRows(text, this.#delimiter, this.#newline, isLast);
    this.#rest = text.slice(end);
    if (this.#rest.length > CSV_RECORD_LENGTH_MAX) {
      const number = this.#recordCount + rows.length;
      throw new InputError(`${this.#name}: is not well-formed CSV: record ${number} does not end`);
    }
    // A last row without a line end and with fewer cells than all others was truncated.
    const perhapsCut = isLast && !text.endsWith(this.#newline) ? rows.at(-1) : undefined;
    for (const cells of rows) {
      const last = cells.length - 1;
      if (cells[last]!.endsWith('\r')) cells[last] = cells[last]!.slice(0, -1);
      if (this.#columns === undefined) {
        if (cells.some(isFilled)) this.#columns = cells.map((column) => column.trim());
        continue;
      }
      this.#recordCount++;
      if (cells.length < this.#columns.length) {
        if (cells === perhapsCut && !this.#hasShortRows && this.#recordCount > 1) throw this.#breaksOff();
        this.#hasShortRows = true;
      }
      const record: Record<string, string> = {};
      let isAny = false;
      for (let i = 0; i <= last && i < this.#columns.length; i++) {
        record[this.#columns[i]!] = cells[i]!;
        isAny ||= isFilled(cells[i]!);
      }
      if (isAny) yield record;
    }
    if (isLast && isOpen) throw this.#breaksOff();
  }

  #breaksOff(): CutShortError {
    return new CutShortError(this.#name, 'is not well-formed CSV: the last record does not end');
  }
}

const isFilled = (cell: string): boolean => cell.trim() !== '';

/**
 * Records of a CSV. A long row is split again only after its text has doubled, so that even tiny pieces cost linear
 * time.
 */
async function* csvRecords(name: string, bytes: Bytes, delimiter: string): AsyncGenerator<SourceRecord> {
  let table: CsvTable | undefined;
  let pending = '';
  try {
    for await (const piece of decodedText(bytes)) {
      pending += piece;
      if (pending === '') continue;
      table ??= new CsvTable(name, delimiter, pending);
      if (pending.length < table.restLength) continue;
      const text = pending;
      pending = '';
      yield* table.records(text, false);
    }
  } catch (error) {
    // Whole rows are delivered before the break.
    if (error instanceof CutShortError && table !== undefined) yield* table.records(pending, false);
    throw error;
  }
  if (table !== undefined && table.restLength + pending.length > 0) yield* table.records(pending, true);
}

/** Codecs of Parquet, except Snappy, which hyparquet has. The runtime has them as native code. */
const COMPRESSORS = {
  ZSTD: (input: Uint8Array) => zstdDecompressSync(input),
  GZIP: (input: Uint8Array) => gunzipSync(input),
  BROTLI: (input: Uint8Array) => brotliDecompressSync(input),
};

/** Reads row groups one after another, so that only the decoded values of one are in memory. */
async function* parquetRecords(name: string, file: Buffer): AsyncGenerator<SourceRecord> {
  // A copy: a Buffer may be a view of a shared pool.
  const buffer = new Uint8Array(file).buffer;
  try {
    const metadata = parquetMetadata(buffer);
    let from = 0;
    for (const group of metadata.row_groups) {
      const to = from + Number(group.num_rows);
      const rows = await parquetReadObjects({
        file: buffer,
        metadata,
        rowStart: from,
        rowEnd: to,
        compressors: COMPRESSORS,
      });
      for (const row of rows) yield row;
      from = to;
    }
  } catch (error) {
    const reason = 'is a damaged Parquet file, or has a compression that is not supported';
    throw new InputError(`${name}: ${reason}`, { cause: error });
  }
}

function isParquet(head: Buffer): boolean {
  return head.subarray(0, 4).toString('latin1') === 'PAR1';
}

/** @throws InputError when the content is too long, or a JSON document that is not UTF-8 */
export async function contentOf(member: Member): Promise<Content> {
  const { head, isComplete, whole } = await peek(member.bytes, HEAD_BYTES);
  if (isParquet(head)) return { kind: 'table', rows: parquetRecords(member.name, await wholeOf(member.name, whole)) };
  const text = new TextDecoder().decode(head);
  const start = text.trimStart();
  if (start === '') {
    if (isComplete) {
      // A file that cannot be read has no first byte either, and throws here.
      await wholeOf(member.name, whole);
      return { kind: 'nothing' };
    }
    return { kind: 'unreadable', reason: `begins with ${HEAD_BYTES} bytes of blanks` };
  }
  if (start.startsWith('<')) {
    const page = pageContent(new TextDecoder().decode(await wholeOf(member.name, whole)));
    return { kind: 'page', ...page };
  }
  if (!start.startsWith('[') && beginsLines(text, isComplete)) return { kind: 'lines', head: text, bytes: whole };
  if (start.startsWith('{') || start.startsWith('[')) {
    const document = await wholeOf(member.name, whole);
    let json: string;
    try {
      json = new TextDecoder('utf-8', { fatal: true }).decode(document);
    } catch {
      throw new InputError(`${member.name}: is not valid UTF-8`);
    }
    const parsed = parsedJson(json);
    return parsed.ok ? { kind: 'document', document: parsed.value } : { kind: 'unreadable', reason: 'is not JSON' };
  }
  const delimiter = head.includes(0) ? undefined : delimiterOf(text.replace(/^\s+/, ''));
  if (delimiter !== undefined) return { kind: 'table', rows: csvRecords(member.name, whole, delimiter) };
  return { kind: 'unreadable', reason: 'is not JSON, JSON Lines, CSV, Parquet or HTML' };
}
