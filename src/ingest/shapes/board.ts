/** Which board a document is, and which company the board belongs to. */
import type { BoardEntry } from './board-manifest.ts';
import type { ShapeContext } from './shape.ts';

/**
 * Longest file name that may suggest a board, as long as file systems allow. An archive can name its members at any
 * length, and finding the endings takes time quadratic in it.
 */
const FILE_NAME_LENGTH_MAX = 255;

/** The board that a file's name suggests: the name without endings, a date and the shape's name in front; null for none. */
export function boardOfFileName(fileName: string | null, shapeName: string): string | null {
  if (fileName === null) return null;
  if (fileName.length > FILE_NAME_LENGTH_MAX) return null;
  const stem = fileName
    .replace(/(?:\.(?:gz|tar|json|jsonl|ndjson|csv|tsv|html?|parquet))+$/i, '')
    .replace(/[._-]\d{4}-?\d{2}-?\d{2}.*$/, '');
  const token = stem.toLowerCase().startsWith(`${shapeName}-`) ? stem.slice(shapeName.length + 1) : stem;
  return token === '' ? null : token;
}

/** A file's name without the ending of its format and of gzip. */
export const fileStemOf = (fileName: string): string => fileName.replace(/\.gz$/i, '').replace(/\.[a-z]{3,5}$/i, '');

/**
 * The owner of a token's board: the part before its slash. A Workday tenant has several careers sites, `tenant/site`,
 * and one entry about the tenant applies to all of them.
 */
export function ownerOf(token: string): string {
  const slash = token.indexOf('/');
  return slash === -1 ? token : token.slice(0, slash);
}

/**
 * The company of the board `token`: from the command line, else as its watch has it, so that a file of a watched board says
 * what a visit says, else the manifest (by token, then by file name, whole and without its endings), else the data, else the
 * token (of a Workday site: its tenant) and no domain.
 * @param said what the data state
 */
export function boardOf(
  token: string,
  context: ShapeContext,
  said: Partial<BoardEntry> = {},
): BoardEntry & { company: string } {
  const { board, manifest, fileName } = context;
  const watched = context.watched?.(token);
  const listed =
    manifest.get(token) ??
    manifest.get(ownerOf(token)) ??
    manifest.get(fileName ?? '') ??
    manifest.get(fileStemOf(fileName ?? ''));
  return {
    company: board.company ?? watched?.company ?? listed?.company ?? said.company ?? ownerOf(token),
    domain: board.domain ?? listed?.domain ?? said.domain ?? null,
    url: board.url ?? watched?.url ?? listed?.url ?? said.url ?? null,
  };
}
