/**
 * What an HTML page says about a job in machine-readable form: its JSON-LD scripts and its address. Like html-text.ts
 * it works on the tokens of htmlparser2 and keeps no stack of open elements, so time is linear in the page however its
 * tags are nested.
 */
import { Tokenizer } from 'htmlparser2';
import { TOKENS_IGNORED } from './html-text.ts';
import { parsedJson } from './lenient-json.ts';

/** Elements whose attributes count. */
const READ = new Set(['a', 'link', 'meta', 'script']);

export interface PageContent {
  /** The parsed JSON-LD scripts. */
  readonly document: unknown[];
  /** The canonical link, else og:url. */
  readonly url: string | null;
  /** A link says that the list goes on (`rel=next`). */
  readonly hasNextPage: boolean;
}

export function pageContent(html: string): PageContent {
  const document: unknown[] = [];
  let canonical: string | null = null;
  let shared: string | null = null;
  let hasNextPage = false;
  /** Text of the open JSON-LD script; null = none is open. */
  let script: string | null = null;
  /** The start tag being read, if its attributes count. */
  let tag = '';
  let attributes = new Map<string, string>();
  let attribute = '';
  let value = '';

  const endOpenTag = (): void => {
    if (tag === 'script' && /^application\/ld\+json\b/i.test(attributes.get('type')?.trim() ?? '')) script = '';
    if (tag === 'link' && attributes.get('rel')?.toLowerCase() === 'canonical') {
      canonical ??= attributes.get('href') ?? null;
    }
    if (tag === 'meta' && attributes.get('property')?.toLowerCase() === 'og:url') {
      shared ??= attributes.get('content') ?? null;
    }
    if (tag === 'link' || tag === 'a') hasNextPage ||= /(?:^|\s)next(?:\s|$)/i.test(attributes.get('rel') ?? '');
    tag = '';
  };
  const endScript = (): void => {
    if (script === null) return;
    // Editors leave comment marks around the script, and raw line breaks in its strings, which JSON does not allow.
    const text = script.replace(/^\s*(?:<!--|\/\/\s*<!\[CDATA\[)|(?:-->|\/\/\s*\]\]>)\s*$/g, '');
    const parsed = parsedJson(text);
    const mended = parsed.ok ? parsed : parsedJson(text.replace(/[\u0000-\u001f]+/g, ' '));
    if (mended.ok) document.push(mended.value);
    script = null;
  };
  const addText = (text: string): void => {
    if (script !== null) script += text;
  };
  const addValue = (text: string): void => {
    if (tag !== '') value += text;
  };

  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      ...TOKENS_IGNORED,
      onopentagname(start, end) {
        const name = html.slice(start, end).toLowerCase();
        tag = READ.has(name) ? name : '';
        if (tag !== '') attributes = new Map();
      },
      onattribname(start, end) {
        if (tag === '') return;
        attribute = html.slice(start, end).toLowerCase();
        value = '';
      },
      onattribdata: (start, end) => addValue(html.slice(start, end)),
      onattribentity: (codePoint) => addValue(String.fromCodePoint(codePoint)),
      onattribend() {
        // The first of repeated attributes counts (WHATWG HTML §13.2.5.33).
        if (tag !== '' && !attributes.has(attribute)) attributes.set(attribute, value);
      },
      onopentagend: endOpenTag,
      onselfclosingtag: endOpenTag,
      ontext: (start, end) => addText(html.slice(start, end)),
      ontextentity: (codePoint) => addText(String.fromCodePoint(codePoint)),
      onclosetag(start, end) {
        if (script !== null && html.slice(start, end).toLowerCase() === 'script') endScript();
      },
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  endScript();
  const url: string | null = canonical ?? shared;
  return { document, url: url !== null && /^https?:\/\//i.test(url) ? url : null, hasNextPage };
}
