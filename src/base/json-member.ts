/**
 * Cuts members and elements out of JSON text, so that numbers, key order and escapes stay as they were: parsing and writing
 * again would change them. The last of repeated names counts, as for `JSON.parse`.
 *
 * Cost: one pass over the objects along the path; allocates nothing but names.
 */

const BLANK = /[\t\n\r ]*/y;
const PLAIN = /[^\s,\]}]+/y;

function pastBlanks(text: string, at: number): number {
  BLANK.lastIndex = at;
  BLANK.test(text);
  return BLANK.lastIndex;
}

/** @throws Error for text that is not JSON: a bug in the caller */
function pastMatch(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  if (!pattern.test(text)) throw new Error('not JSON');
  return pattern.lastIndex;
}

/** The index after the value that begins at `at`. */
function pastValue(text: string, at: number): number {
  const first = text[at];
  if (first === '"') return pastString(text, at);
  if (first !== '{' && first !== '[') return pastMatch(PLAIN, text, at);
  let depth = 0;
  for (let i = at; i < text.length; ) {
    const character = text[i];
    if (character === '"') {
      i = pastString(text, i);
      continue;
    }
    i++;
    if (character === '{' || character === '[') depth++;
    else if ((character === '}' || character === ']') && --depth === 0) return i;
  }
  throw new Error('not JSON');
}

function pastString(text: string, at: number): number {
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === '\\') i++;
    else if (text[i] === '"') return i + 1;
  }
  throw new Error('not JSON');
}

/**
 * The text of the value at a path of names, without surrounding blanks; undefined when there is none.
 * @param text one JSON value, valid, without a byte order mark
 */
export function memberText(text: string, path: readonly string[]): string | undefined {
  let start = pastBlanks(text, 0);
  for (const name of path) {
    if (text[start] !== '{') return undefined;
    let found: number | undefined;
    for (let at = pastBlanks(text, start + 1); text[at] === '"'; ) {
      const nameEnd = pastString(text, at);
      const isWanted = JSON.parse(text.slice(at, nameEnd)) === name;
      const value = pastBlanks(text, pastBlanks(text, nameEnd) + 1);
      if (isWanted) found = value;
      at = pastBlanks(text, pastBlanks(text, pastValue(text, value)) + 1);
    }
    if (found === undefined) return undefined;
    start = found;
  }
  return text.slice(start, pastValue(text, start));
}

/** The texts of the elements of an array; none for another value. @param text as for {@link memberText} */
export function elementTexts(text: string): string[] {
  const elements: string[] = [];
  const start = pastBlanks(text, 0);
  if (text[start] !== '[') return elements;
  for (let at = pastBlanks(text, start + 1); text[at] !== ']'; ) {
    const end = pastValue(text, at);
    elements.push(text.slice(at, end));
    at = pastBlanks(text, end);
    if (text[at] === ',') at = pastBlanks(text, at + 1);
  }
  return elements;
}
