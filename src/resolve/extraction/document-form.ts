/** The kind of a document, by its Content-Type, or by its first bytes if it has none. */

export type DocumentForm = 'html' | 'xhtml' | 'xml' | 'text' | 'other';

/** Bytes that are examined when no type is given. */
const SNIFFED_BYTES = 1_024;

/** JSON is shown unchanged, as text. */
const JSON_TYPE = /^application\/(?:json|[\w.+-]+\+json)$/;
const XML_TYPE = /^(?:application|text)\/xml$|\+xml$/;
/** Each comment matches in only one way; otherwise a page of many comments would take time exponential in their number. */
const HTML_START = /^(?:\s|<!--(?:(?!-->)[\s\S])*-->)*<(?:!doctype html|html|head|body|title|meta)\b/i;

/** The type without its parameters, in lower case. */
export const essenceOf = (contentType: string): string =>
  (contentType.split(/[;,]/, 1)[0] as string).trim().toLowerCase();

function sniffed(body: Uint8Array): DocumentForm {
  const start = body.subarray(0, SNIFFED_BYTES);
  const text = new TextDecoder().decode(start);
  if (HTML_START.test(text)) return 'html';
  if (/^\s*<\?xml\s/.test(text)) return 'xml';
  return start.includes(0) ? 'other' : 'text';
}

export function documentFormOf(contentType: string | null, body: Uint8Array): DocumentForm {
  const essence = essenceOf(contentType ?? '');
  if (essence === '') return sniffed(body);
  if (essence === 'text/html') return 'html';
  if (essence === 'application/xhtml+xml') return 'xhtml';
  if (XML_TYPE.test(essence)) return 'xml';
  return essence.startsWith('text/') || JSON_TYPE.test(essence) ? 'text' : 'other';
}
