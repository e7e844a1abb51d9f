/**
 * A JSON answer of any route as a few lines for people: a line for each value, and for each element in a list of larger
 * objects.
 */
import { grouped } from '../../base/grouped.ts';
import { isObject, type JsonObject } from '../../base/json-value.ts';
import { printable } from '../../base/printable.ts';

/** Lines of one answer. */
export const ANSWER_LINES_MAX = 10;
/** Characters of a line. */
const LINE_LENGTH_MAX = 100;

/** Elements of a list with so few members stand on one line together. */
const SMALL_MEMBERS_MAX = 3;

const ADDRESS = /^https?:\/\//;

const worded = (name: string): string => name.replaceAll('_', ' ');

/** Texts alone, numbers with their name, lists as their elements; nothing for null, an address or an empty list. */
function* pieces(name: string, value: unknown): Generator<string> {
  if (value === null || value === undefined) return;
  if (Array.isArray(value)) {
    const texts = value.filter((item) => typeof item !== 'object').map(String);
    if (texts.length > 0) yield `${worded(name)} ${texts.join(' ')}`;
  } else if (isObject(value)) {
    for (const [inner, member] of Object.entries(value)) yield* pieces(inner, member);
  } else if (typeof value !== 'string') {
    yield `${worded(name)} ${typeof value === 'number' ? grouped(value) : value}`;
  } else if (value !== '' && !ADDRESS.test(value)) yield value;
}

function cut(line: string): string {
  const shown = printable(line.replace(/(?<=\S)\s+/g, ' '), Number.POSITIVE_INFINITY);
  return shown.length <= LINE_LENGTH_MAX ? shown : `${shown.slice(0, LINE_LENGTH_MAX - 1)}…`;
}

/** An object as one line, followed by its lists and long texts, such as the skills and the description of a job. */
function* objectLines(name: string, members: JsonObject): Generator<string> {
  const isLong = (value: unknown): boolean =>
    Array.isArray(value) || (typeof value === 'string' && value.length > LINE_LENGTH_MAX && !ADDRESS.test(value));
  const [below, beside] = [true, false].map((wanted) =>
    Object.fromEntries(Object.entries(members).filter(([, value]) => isLong(value) === wanted)),
  ) as [JsonObject, JsonObject];
  yield `${worded(name)}: ${[...pieces(name, beside)].join(', ')}`;
  for (const line of linesOf(below)) yield `  ${line}`;
}

function listLines(name: string, list: readonly unknown[]): string[] {
  if (list.length === 0) return [`${worded(name)}: none`];
  if (!list.some(isObject)) return [`${worded(name)}: ${list.join(', ')}`];
  const items = list.map((item) => [...pieces('', item)].join(', '));
  const isSmall = list.every((item) => Object.keys(item as JsonObject).length <= SMALL_MEMBERS_MAX);
  return isSmall ? [`${worded(name)}: ${items.join('; ')}`] : [`${worded(name)}:`, ...items.map((item) => `  ${item}`)];
}

function* linesOf(data: JsonObject): Generator<string> {
  for (const [name, value] of Object.entries(data)) {
    if (Array.isArray(value)) yield* listLines(name, value);
    else if (isObject(value)) yield* objectLines(name, value);
    else yield `${worded(name)}: ${value === null ? 'not known' : typeof value === 'number' ? grouped(value) : value}`;
  }
}

/**
 * At most {@link ANSWER_LINES_MAX} lines of at most 100 characters. For an answer `{ data }` it shows the data. The
 * last line states how many lines are left out.
 */
export function answerLines(body: unknown): string[] {
  const data = isObject(body) && isObject(body.data) ? body.data : isObject(body) ? body : { answer: body };
  const lines = [...linesOf(data)].map(cut);
  if (lines.length <= ANSWER_LINES_MAX) return lines;
  const shown = lines.slice(0, ANSWER_LINES_MAX - 1);
  return [...shown, `… and ${grouped(lines.length - shown.length)} more lines; --json prints all of it`];
}
