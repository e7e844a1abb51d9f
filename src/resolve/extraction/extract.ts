/**
 * Extracts the content of a document (siblings §7). Pure and synchronous: it runs in a separate thread, which is terminated
 * when it takes too long. Time and memory are linear in the document, which has at most 8 MiB.
 */
import { MIB } from '../../base/sizes.ts';
import { WIRE_BYTES_MAX } from '../../outbound/limits.ts';
import { SHORT_VALUE_MAX, TEXT_CODE_POINTS_MAX, TITLE_LENGTH_MAX } from '../limits.ts';
import { type Include, nothingOf, type PageContent, type PageMetadata } from '../result.ts';
import { decodeDocument } from './charset.ts';
import { type DocumentForm, documentFormOf, essenceOf } from './document-form.ts';
import { readHtml } from './html-page.ts';
import { readMarkup } from './markup.ts';
import { MetadataReader } from './page-metadata.ts';
import { firstCodePoints, shortLine, withoutUnprintable } from './plain-text.ts';
import { TextBlocks } from './text-blocks.ts';

export interface DocumentToRead {
  readonly body: Uint8Array;
  readonly contentType: string | null;
  /** Where it was found. */
  readonly url: string;
  readonly include: readonly Include[];
  readonly isTruncated: boolean;
}

interface Read {
  readonly metadata: PageMetadata;
  readonly text: { readonly text: string; readonly isCut: boolean };
  readonly links: PageContent['links'];
}

export const TEXT_CUT = `The text is cut at ${TEXT_CODE_POINTS_MAX} characters.`;
const BODY_CUT = `The answer was longer than ${WIRE_BYTES_MAX / MIB} MiB; what is beyond was not read.`;

function htmlContent(source: string, url: URL, isXhtml = false): Read {
  const page = readHtml(source, isXhtml);
  const base = URL.parse(page.baseHref ?? '', url) ?? url;
  return { metadata: page.metadata.metadata(base), text: page.blocks.text(), links: page.links.links(base) };
}

const localName = (name: string): string => name.slice(name.indexOf(':') + 1).toLowerCase();

/** A feed or another XML document: its first title, its language, its text, and no links. */
function xmlContent(source: string, url: URL): Read {
  const blocks = new TextBlocks();
  const path: string[] = [];
  let title: string | null = null;
  /** Text of the open title so far; texts arrive in pieces, which end at each entity. */
  let gathered = '';
  let language: string | null = null;
  readMarkup(
    source,
    {
      onOpen(name, attributes, isNested) {
        blocks.end();
        language ??= shortLine(attributes.get('xml:lang'), SHORT_VALUE_MAX);
        if (isNested) path.push(localName(name));
      },
      onClose() {
        blocks.end();
        if (path.pop() !== 'title') return;
        title ??= shortLine(gathered, SHORT_VALUE_MAX);
        gathered = '';
      },
      onLooseEnd: () => blocks.end(),
      onText(text) {
        blocks.add(text, false);
        if (title === null && path.at(-1) === 'title') gathered += text.slice(0, TITLE_LENGTH_MAX - gathered.length);
      },
    },
    'xml',
  );
  blocks.end();
  const nothing = new MetadataReader().metadata(url);
  return { metadata: { ...nothing, title, language }, text: blocks.everything(), links: [] };
}

function plainContent(source: string, url: URL): Read {
  const whole = withoutUnprintable(source).replace(/\r\n?/g, '\n');
  const text = firstCodePoints(whole, TEXT_CODE_POINTS_MAX);
  const isCut = text.length < whole.length;
  return { metadata: new MetadataReader().metadata(url), text: { text, isCut }, links: [] };
}

const READERS: Readonly<Record<Exclude<DocumentForm, 'other'>, (source: string, url: URL) => Read>> = {
  html: htmlContent,
  xhtml: (source, url) => htmlContent(source, url, true),
  xml: xmlContent,
  text: plainContent,
};

export function extract({ body, contentType, url, include, isTruncated }: DocumentToRead): PageContent {
  const warnings = isTruncated ? [BODY_CUT] : [];
  const form = documentFormOf(contentType, body);
  if (form === 'other') {
    const type = essenceOf(contentType ?? '') || 'The type';
    return nothingOf([...warnings, `${type} is not text, HTML, XML or JSON: nothing was extracted.`]);
  }
  const source = decodeDocument(body, contentType, form !== 'text');
  const place = new URL(url);
  const content = READERS[form](source, place);
  const hasText = include.includes('text');
  return {
    metadata: include.includes('metadata') ? content.metadata : null,
    text: hasText ? content.text.text : null,
    links: include.includes('links') ? content.links : null,
    warnings: hasText && content.text.isCut ? [...warnings, TEXT_CUT] : warnings,
  };
}
