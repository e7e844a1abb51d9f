/**
 * Splits CSV text into rows, by RFC 4180 but leniently: rows of any length, quotes in unquoted fields, and in quoted
 * fields quotes that are not doubled if neither a separator nor a line end follows. Time is linear in the text,
 * whatever it holds: each character is read a bounded number of times.
 */
import { withoutByteOrderMark } from '../../base/codec.ts';

export interface CsvRows {
  readonly rows: string[][];
  /** Where the first row outside `rows` starts: the last, perhaps unfinished row, unless no more text follows. */
  readonly end: number;
  /** The text ends inside a quoted field. */
  readonly isOpen: boolean;
}

/** A line of an operator's file that cannot be read. */
export interface RefusedLine {
  /** Number of the record in the file, the header being 1. */
  readonly line: number;
  readonly field: string;
  /** Completes the sentence "field ...". */
  readonly reason: string;
}

const QUOTE = '"';

/** Why a record that ends `isOpen` is refused, with all after its quote. Completes the sentence "the record ...". */
export const OPEN_QUOTE = 'has a quote that does not end';

/** Why a header is refused that spreadsheets in some languages write. Completes the sentence "the header ...". */
export const SEMICOLONS = 'must have commas between its columns, not semicolons, and so must every line';

/** @param delimiter one character @param isLast no more text follows, so the last row needs no line end */
export function csvRows(text: string, delimiter: string, newline: '\n' | '\r', isLast: boolean): CsvRows {
  const { length } = text;
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  let end = 0;
  // The next position of each mark from `at` on, searched again only once it is passed; `length` = none.
  let nextDelimiter = -1;
  let nextNewline = -1;
  const placeOf = (mark: string, from: number): number => {
    const place = text.indexOf(mark, from);
    return place === -1 ? length : place;
  };
  const isMark = (place: number): boolean => text[place] === delimiter || text[place] === newline;

  for (;;) {
    let value: string;
    let past: number;
    if (text[at] === QUOTE) {
      const closing = closingQuote(text, at, isMark, isLast);
      if (closing === undefined) return { rows, end, isOpen: true };
      value = text.slice(at + 1, closing.quote);
      if (value.includes(QUOTE)) value = value.replaceAll('""', QUOTE);
      past = closing.past;
    } else {
      if (nextDelimiter < at) nextDelimiter = placeOf(delimiter, at);
      if (nextNewline < at) nextNewline = placeOf(newline, at);
      past = Math.min(nextDelimiter, nextNewline);
      value = text.slice(at, past);
    }
    if (past === length && !isLast) return { rows, end, isOpen: false };
    row.push(value);
    at = past + 1;
    if (past < length && text[past] === delimiter) continue;
    rows.push(row);
    row = [];
    end = Math.min(at, length);
    if (at >= length) return { rows, end, isOpen: false };
  }
}

/** The rows of a file that an operator wrote, with commas: without a byte order mark, lines ended by LF or CRLF. */
export const csvFileRows = (text: string): Pick<CsvRows, 'rows' | 'isOpen'> =>
  csvRows(withoutByteOrderMark(text).replaceAll('\r\n', '\n'), ',', '\n', true);

/** The closing quote of the field that opens at `open`, and the mark or end of text after it and any blanks. */
function closingQuote(
  text: string,
  open: number,
  isMark: (place: number) => boolean,
  isLast: boolean,
): { readonly quote: number; readonly past: number } | undefined {
  for (let quote = text.indexOf(QUOTE, open + 1); quote !== -1; quote = text.indexOf(QUOTE, quote + 1)) {
    let past = quote + 1;
    if (text[past] === QUOTE) {
      quote = past;
      continue;
    }
    while (past < text.length && !isMark(past) && text[past]!.trim() === '') past++;
    if (past === text.length ? isLast : isMark(past)) return { quote, past };
  }
  return undefined;
}
