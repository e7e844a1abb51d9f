/**
 * Converts HTML to plain text that a reader can follow: the catalogue stores it as the description and extracts skills
 * from it. It uses the low-level tokenizer of htmlparser2 (WHATWG HTML §13.2.5) and builds no tree and no stack of open
 * elements, so hostile nesting costs nothing: time and memory are linear in the input.
 */
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';

/** Elements whose start or end begins a new line. Cells are among them, so that a table reads as a list. */
const BREAKING = new Set(
  `address article aside blockquote body br caption center dd details dialog div dl dt fieldset figcaption figure
  footer form h1 h2 h3 h4 h5 h6 head header hr html legend li main menu nav ol option p pre section select summary
  table tbody td tfoot th thead tr ul`.split(/\s+/),
);

/** The breaking elements with a blank line around them, except inside a list. */
const PARAGRAPHS = new Set('blockquote dl h1 h2 h3 h4 h5 h6 hr ol p pre table ul'.split(' '));

/** Gaps between two texts: nothing, a blank, a line break, a blank line. The widest wins. */
const GAPS = ['', ' ', '\n', '\n\n'] as const;
const BLANK = 1;
const LINE = 2;
const PARAGRAPH = 3;

/** A list item that brings its own bullet. */
const BULLETED = /^[-*\u2013\u2014\u2022\u00b7\u25aa\u25cf\u25e6\u2023]\s/;

/** Elements whose content is not text for a reader. */
const DROPPED = new Set(['script', 'style']);

/** Element names that only HTML has. Any other `<word>` may be a generic type or a placeholder. */
const NAMES =
  'a|abbr|article|b|blockquote|body|br|center|code|dd|div|dl|dt|em|font|footer|h[1-6]|head|header|hr|html|i|img|ins|' +
  'li|link|main|meta|ol|p|pre|s|script|section|small|span|strike|strong|style|sub|sup|table|tbody|td|th|thead|tr|u|ul';
const TAG = new RegExp(`<(?:/?(?:${NAMES})(?=[\\s/>])|!--)`, 'i');
/** HTML that was escaped once and then had a link or the like added begins with an escaped tag. */
const ESCAPED_START = new RegExp(`^\\s*(?:&lt;|&#60;|&#x3c;)(?:${NAMES})(?=[\\s/>]|&gt;|&#62;|&#x3e;)`, 'i');
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

/** The text of HTML, whether or not it has a known tag. */
export function markupText(html: string): string {
  let out = '';
  let gap = 0; // between `out` and the next text, an index of GAPS
  let isItem = false; // the next text begins a list item
  let lists = 0; // open lists
  let preformatted = 0; // open <pre> elements
  let dropped = ''; // name of the element whose content is being dropped

  const widen = (least: number): void => {
    gap = Math.max(gap, lists > 0 ? Math.min(least, LINE) : least);
  };
  const add = (text: string): void => {
    if (dropped !== '') return;
    if (preformatted > 0 && text.includes('\n')) {
      for (const [index, line] of text.split('\n').entries()) {
        if (index > 0) widen(gap >= LINE ? PARAGRAPH : LINE);
        add(line);
      }
      return;
    }
    const even = UNEVEN_BLANKS.test(text) ? text.replace(/\s+/g, ' ') : text;
    const from = even.startsWith(' ') ? 1 : 0;
    if (from === 1) gap = Math.max(gap, BLANK);
    if (even.length === from) return;
    const to = even.endsWith(' ') ? even.length - 1 : even.length;
    const piece = even.slice(from, to);
    if (out !== '') out += GAPS[gap];
    out += isItem && !BULLETED.test(piece) ? `- ${piece}` : piece;
    isItem = false;
    gap = to < even.length ? BLANK : 0;
  };
  const breakFor = (name: string): void => {
    if (PARAGRAPHS.has(name)) widen(PARAGRAPH);
    else if (BREAKING.has(name)) widen(name === 'br' && gap >= LINE ? PARAGRAPH : LINE);
  };

  run(html, {
    onopentagname: (start, end) => {
      const name = html.slice(start, end).toLowerCase();
      breakFor(name);
      if (name === 'ul' || name === 'ol') lists++;
      else if (name === 'li') isItem = true;
      else if (name === 'pre') preformatted++;
      if (dropped === '' && DROPPED.has(name)) dropped = name;
    },
    onclosetag: (start, end) => {
      const name = html.slice(start, end).toLowerCase();
      if (name === 'ul' || name === 'ol') lists = Math.max(0, lists - 1);
      if (name === 'ul' || name === 'ol' || name === 'li') isItem = false;
      // `</br>` is a line break too, like the `<br>` that it stands for.
      breakFor(name);
      if (name === 'pre' && preformatted > 0) preformatted--;
      if (name === dropped) dropped = '';
    },
    ontext: (start, end) => add(html.slice(start, end)),
    ontextentity: (codePoint) => add(String.fromCodePoint(codePoint)),
  });
  return out;
}

/**
 * The text of a description in HTML: paragraphs, headings and lists have a blank line around them, a list item is a line with
 * "- " before it, other blocks, cells and `<br>` begin a line, other blanks collapse to one space. `<script>`, `<style>` and
 * comments are dropped, entities are decoded.
 * A text without a known tag is plain: its entities are decoded and its line breaks stay. A plain text with an escaped tag
 * (`&lt;p&gt;`, as Greenhouse serves it) is HTML that was escaped once, so it is unescaped first.
 */
export function htmlText(html: string): string {
  if (!html.includes('<') && !html.includes('&')) return html;
  if (TAG.test(html)) return markupText(ESCAPED_START.test(html) ? decodedEntities(html) : html);
  const decoded = decodedEntities(html);
  return ESCAPED_TAG.test(html) ? markupText(decoded) : decoded;
}
