/**
 * Markup as a stream of elements and texts, over the low-level tokenizer of htmlparser2 (WHATWG HTML §13.2.5). It builds no
 * tree. Open containers are on a stack of bounded depth; containers beyond the bound are only counted. Other elements are
 * never on it, so unclosed ones cost nothing. Matching an end tag takes constant time on average, because every element it
 * skips is popped; so time is linear in the document, whatever its nesting.
 */
import { Tokenizer } from 'htmlparser2';

/** Open elements that are distinguished. Real pages stay below 100. */
const DEPTH_MAX = 512;

/** Attributes kept per element, and characters per value; real pages have a tenth. */
const ATTRIBUTE_COUNT_MAX = 64;
const VALUE_LENGTH_MAX = 8_192;

/**
 * Elements whose nesting matters for extraction. All others end with whatever comes next: void ones, those whose end tag may
 * be omitted (`head`, `p`, `td`), and inline ones, which real pages nest wrongly (`<b><div></b>`).
 */
const CONTAINERS = new Set(
  `main article section div nav aside header footer hgroup search form fieldset table ul ol dl menu blockquote
  pre figure figcaption details summary dialog address center svg math select datalist template noscript script style title
  textarea iframe noframes noembed object audio video canvas button`.split(/\s+/),
);

const isContainer = (name: string): boolean => CONTAINERS.has(name) || name.includes('-');

export interface MarkupReader {
  /** @param isNested true: a container, for which `onClose` will follow */
  onOpen(name: string, attributes: ReadonlyMap<string, string>, isNested: boolean): void;
  /** A container ends, in reverse order of opening. */
  onClose(name: string): void;
  /** An end tag of any other element. */
  onLooseEnd(name: string): void;
  onText(text: string): void;
}

/** XHTML is read as HTML, except that an element may close itself. */
export type MarkupForm = 'html' | 'xhtml' | 'xml';

class Markup {
  readonly #text: string;
  readonly #reader: MarkupReader;
  readonly #isXml: boolean;
  readonly #canSelfClose: boolean;
  readonly #stack: string[] = [];
  /** Number of open elements on the stack, by name. */
  readonly #openCounts = new Map<string, number>();
  /** Open containers beyond the depth. */
  #deeperCount = 0;
  #foreignDepth = 0;
  #name = '';
  #attributes = new Map<string, string>();
  #attribute = '';
  #value = '';

  constructor(text: string, reader: MarkupReader, form: MarkupForm) {
    this.#text = text;
    this.#reader = reader;
    this.#isXml = form === 'xml';
    this.#canSelfClose = form !== 'html';
  }

  read(): void {
    const ignored = (): void => undefined;
    const cdata = (start: number, end: number, offset: number): void => {
      if (this.#isXml || this.#foreignDepth > 0) this.#reader.onText(this.#text.slice(start, end - offset));
    };
    const tokenizer = new Tokenizer(
      { decodeEntities: true, xmlMode: this.#isXml, recognizeSelfClosing: this.#canSelfClose },
      {
        onattribdata: (start, end) =>
          this.#addToValue(this.#text.slice(start, Math.min(end, start + VALUE_LENGTH_MAX))),
        onattribentity: (codePoint) => this.#addToValue(String.fromCodePoint(codePoint)),
        onattribend: () => this.#endAttribute(),
        onattribname: (start, end) => {
          this.#attribute = this.#nameOf(start, end);
          this.#value = '';
        },
        oncdata: cdata,
        onclosetag: (start, end) => this.#close(this.#nameOf(start, end)),
        oncomment: ignored,
        ondeclaration: ignored,
        onend: ignored,
        onopentagend: () => this.#open(false),
        onopentagname: (start, end) => {
          this.#name = this.#nameOf(start, end);
          this.#attributes = new Map();
        },
        onprocessinginstruction: ignored,
        onselfclosingtag: () => this.#open(this.#canSelfClose || this.#foreignDepth > 0),
        ontext: (start, end) => this.#reader.onText(this.#text.slice(start, end)),
        ontextentity: (codePoint) => this.#reader.onText(String.fromCodePoint(codePoint)),
        isInForeignContext: () => this.#foreignDepth > 0,
      },
    );
    tokenizer.write(this.#text);
    tokenizer.end();
    while (this.#stack.length > 0) this.#pop();
  }

  #nameOf(start: number, end: number): string {
    const name = this.#text.slice(start, Math.min(end, start + 256));
    return this.#isXml ? name : name.toLowerCase();
  }

  #addToValue(piece: string): void {
    if (this.#value.length < VALUE_LENGTH_MAX) this.#value += piece;
  }

  #endAttribute(): void {
    const attributes = this.#attributes;
    if (attributes.size < ATTRIBUTE_COUNT_MAX && !attributes.has(this.#attribute)) {
      attributes.set(this.#attribute, this.#value);
    }
  }

  #open(isSelfClosed: boolean): void {
    const name = this.#name;
    const isNested = !isSelfClosed && (this.#isXml || isContainer(name));
    if (isNested && this.#stack.length === DEPTH_MAX) {
      this.#deeperCount++;
      this.#reader.onOpen(name, this.#attributes, false);
      return;
    }
    if (isNested) {
      this.#stack.push(name);
      this.#openCounts.set(name, (this.#openCounts.get(name) ?? 0) + 1);
      if (name === 'svg' || name === 'math') this.#foreignDepth++;
    }
    this.#reader.onOpen(name, this.#attributes, isNested);
  }

  #isOpen(name: string): boolean {
    return (this.#openCounts.get(name) ?? 0) > 0;
  }

  #close(name: string): void {
    if (!this.#isXml && !isContainer(name)) {
      this.#reader.onLooseEnd(name);
      return;
    }
    if (this.#deeperCount > 0) {
      this.#deeperCount--;
      this.#reader.onLooseEnd(name);
      return;
    }
    if (!this.#isOpen(name)) return;
    let closed: string;
    do closed = this.#pop();
    while (closed !== name);
  }

  #pop(): string {
    const name = this.#stack.pop() as string; // the callers know that it is not empty
    this.#openCounts.set(name, (this.#openCounts.get(name) ?? 1) - 1);
    if (name === 'svg' || name === 'math') this.#foreignDepth--;
    this.#reader.onClose(name);
    return name;
  }
}

/** Passes the whole document to the reader. Names are in lower case; in XML they are unchanged. */
export function readMarkup(text: string, reader: MarkupReader, form: MarkupForm): void {
  new Markup(text, reader, form).read();
}
