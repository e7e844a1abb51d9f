// @ts-check
/**
 * Breaks JSON text into indented lines without parsing it into values, so numbers, escapes, key order and repeated keys stay
 * as they were sent. The text must be valid JSON, which the server has checked.
 */

/** @typedef {{ readonly kind: 'space' | 'mark' | 'name' | 'text' | 'other', readonly text: string }} Piece */

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const INDENT = '  ';

/**
 * @param {string} json
 * @returns {Piece[]} the pieces; joined, they are the text in indented lines
 */
export function piecesOf(json) {
  const tokens = json.match(TOKEN) ?? [];
  /** @type {Piece[]} */
  const pieces = [];
  let depth = 0;
  const breakLine = () => pieces.push({ kind: 'space', text: `\n${INDENT.repeat(depth)}` });
  tokens.forEach((token, i) => {
    const next = tokens[i + 1];
    if (token === '{' || token === '[') {
      pieces.push({ kind: 'mark', text: token });
      if (next === '}' || next === ']') return;
      depth++;
      breakLine();
    } else if (token === '}' || token === ']') {
      const before = tokens[i - 1];
      if (before !== '{' && before !== '[') {
        depth--;
        breakLine();
      }
      pieces.push({ kind: 'mark', text: token });
    } else if (token === ',') {
      pieces.push({ kind: 'mark', text: token });
      breakLine();
    } else if (token === ':') {
      pieces.push({ kind: 'mark', text: ': ' });
    } else {
      const kind = token.startsWith('"') ? (next === ':' ? 'name' : 'text') : 'other';
      pieces.push({ kind, text: token });
    }
  });
  return pieces;
}
