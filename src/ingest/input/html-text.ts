/**
 * HTML to plain text, for the extraction from descriptions. It uses the low-level tokenizer of htmlparser2 (WHATWG HTML
 * §13.2.5) and builds no tree and no stack of open elements, so hostile nesting costs nothing: time and memory are linear
 * in the input.
 */
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';

/** Elements whose start or end begins a new line. Cells are among them, so that a table reads as a list. */
const BREAKING = new Set(
  `address article aside blockquote body br caption center dd details dialog div dl dt fieldset figcaption figure
  footer form h1 h2 h3 h4 h5 h6 head header hr html legend li main menu nav ol option p pre section select summary
  table tbody td tfoot th thead tr ul`.split(/\s+/),
);

/** Elements whose content is not text for a reader. */
const DROPPED = new Set(['script', 'style']);

/** Element names that only HTML has. Any other `<word>` may be a generic type or a placeholder. */
const NAMES =
  'a|abbr|article|b|blockquote|body|br|center|code|dd|div|dl|dt|em|font|footer|h[1-6]|head|header|hr|html|i|img|ins|' +
  'li|link|main|meta|ol|p|pre|s|script|section|small|span|strike|strong|style|sub|sup|table|tbody|td|th|thead|tr|u|ul';
const TAG = new RegExp(`<(?:/?(?:${NAMES})(?=[\\s/>])|!--)`, 'i');
const ESCAPED_TAG = new RegExp(`(?:&lt;|&#60;|&#x3c;)/?(?:${NAMES})(?=[\\s/>]|&gt;|&#62;|&#x3e;)`, 'i');

/** Blanks that collapse: a run of them, or one that is not a plain space (a no-break space is one here). */
const UNEVEN_BLANKS = /\s{2,}|[^\S ]/;

const ignored = (): void => undefined;

/** Callbacks that ignore every token. */
export const TOKENS_IGNORED: TokenizerCallbacks = {
  onattribdata: ignored,
  onattribentity: ignored,
  onattribend: ignored,
  onattribname: ignored,
  oncdata: ignored,
  onclosetag: ignored,
  oncomment: ignored,
  ondeclaration: ignored,
  onend: ignored,
  onopentagend: ignored,
  onopentagname: ignored,
  onprocessinginstruction: ignored,
  onselfclosingtag: ignored,
  ontext: ignored,
  ontextentity: ignored,
};

function run(text: string, callbacks: Partial<TokenizerCallbacks>): void {
  const tokenizer = new Tokenizer({ decodeEntities: true }, { ...TOKENS_IGNORED, ...callbacks });
  tokenizer.write(text);
  tokenizer.end();
}

/** Decodes entities and leaves every other character alone. It splits at `<`, so that the tokenizer finds no tag. */
export function decodedEntities(text: string): string {
  let out = '';
  for (const [index, piece] of text.split('<').entries()) {
    if (index > 0) out += '<';
    if (!piece.includes('&')) {
      out += piece;
      continue;
    }
    run(piece, {
      ontext: (start, end) => {
        out += piece.slice(start, end);
      },
      ontextentity: (codePoint) => {
        out += String.fromCodePoint(codePoint);
      },
    });
  }
  return out;
}

function markupText(html: string): string {
  let out = '';
  let gap: '' | ' ' | '\n' = ''; // between `out` and the next text; a line break wins over a space
  let preformatted = 0; // open <pre> elements
  let dropped = ''; // name of the element whose content is being dropped

  const add = (text: string): void => {
    if (dropped !== '') return;
    if (preformatted > 0 && text.includes('\n')) {
      for (const [index, line] of text.split('\n').entries()) {
        if (index > 0) gap = '\n';
        add(line);
      }
      return;
    }
    const even = UNEVEN_BLANKS.test(text) ? text.replace(/\s+/g, ' ') : text;
    const from = even.startsWith(' ') ? 1 : 0;
    if (from === 1 && gap === '') gap = ' ';
    if (even.length === from) return;
    const to = even.endsWith(' ') ? even.length - 1 : even.length;
    if (out !== '') out += gap;
    out += even.slice(from, to);
    gap = to < even.length ? ' ' : '';
  };

  run(html, {
    onopentagname: (start, end) => {
      const name = html.slice(start, end).toLowerCase();
      if (BREAKING.has(name)) gap = '\n';
      if (name === 'pre') preformatted++;
      if (dropped === '' && DROPPED.has(name)) dropped = name;
    },
    onclosetag: (start, end) => {
      const name = html.slice(start, end).toLowerCase();
      if (BREAKING.has(name)) gap = '\n';
      if (name === 'pre' && preformatted > 0) preformatted--;
      if (name === dropped) dropped = '';
    },
    ontext: (start, end) => add(html.slice(start, end)),
    ontextentity: (codePoint) => add(String.fromCodePoint(codePoint)),
  });
  return out;
}

/**
 * The text of a description in HTML: block elements, list items, cells and `<br>` become single line breaks, other blanks
 * collapse to one space, `<script>`, `<style>` and comments are dropped, entities are decoded.
 * A text without a known tag is plain: its entities are decoded and its line breaks stay. A plain text with an escaped tag
 * (`&lt;p&gt;`, as Greenhouse serves it) is HTML that was escaped once, so it is unescaped first.
 */
export function htmlText(html: string): string {
  if (!html.includes('<') && !html.includes('&')) return html;
  if (TAG.test(html)) return markupText(html);
  const decoded = decodedEntities(html);
  return ESCAPED_TAG.test(html) ? markupText(decoded) : decoded;
}
