/**
 * What the headers of a body say: which of the forms that this server takes it has (callback.md "accepted content types";
 * decisions §5), and whether it came unpacked. Types are compared without case and parameters. A repeated header is refused: it
 * arrives joined by `, `, and a single value has no comma outside quotes.
 */

/** RFC 9110 §5.5: the characters of a field value. The check matters because Bun lets 0x7f through. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** True when the server can send a header with this value. */
export function isFieldValue(text: string): boolean {
  return FIELD_VALUE.test(text);
}

/** How the bytes become the event's `body`: as JSON text unchanged, or decoded by `charset` to a string. */
export type BodyForm = { readonly kind: 'json' } | { readonly kind: 'text'; readonly charset: string };

export const UTF_8 = 'utf-8';
const JSON_FORM: BodyForm = { kind: 'json' };
const TEXT_FORM: BodyForm = { kind: 'text', charset: UTF_8 };

/** RFC 9110 `token "/" token`, without `*`, which belongs to a media range. */
const ESSENCE = /^[!#$%&'+\-.^_`|~0-9a-z]+\/[!#$%&'+\-.^_`|~0-9a-z]+$/;

/** One parameter at a time; a value is a token or a quoted string (RFC 9110 §5.6.6). */
const PARAMETER = /[\t ]*;[\t ]*(?:([!#$%&'*+\-.^_`|~0-9A-Za-z]+)=(?:"((?:[^"\\]|\\.)*)"|([^\t ",;]*)))?[\t ]*/y;

/** The first value of `charset`; null when there is none; undefined when the parameters are malformed. */
function charsetOf(parameters: string): string | null | undefined {
  let charset: string | null = null;
  PARAMETER.lastIndex = 0;
  while (PARAMETER.lastIndex < parameters.length) {
    const found = PARAMETER.exec(parameters);
    if (found === null) return undefined;
    const [, name, quoted, token] = found;
    if (charset === null && name?.toLowerCase() === 'charset') charset = quoted?.replace(/\\(.)/g, '$1') ?? token ?? '';
  }
  return charset;
}

/** The Encoding Standard's name for a label; undefined for an unknown label. */
function encodingOf(label: string): string | undefined {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return undefined;
  }
}

/**
 * The form of a body by its Content-Type. JSON is UTF-8 regardless of its charset parameter, but an unknown charset is refused
 * for JSON too.
 * @param contentType the header as sent; null when there is none, which means text
 * @returns undefined for a type that the server does not accept (415)
 */
export function bodyFormOf(contentType: string | null): BodyForm | undefined {
  if (contentType === null) return TEXT_FORM;
  if (!isFieldValue(contentType)) return undefined;
  const semicolon = contentType.indexOf(';');
  const essence = (semicolon < 0 ? contentType : contentType.slice(0, semicolon)).trim().toLowerCase();
  if (!ESSENCE.test(essence)) return undefined;
  const isJson = essence === 'application/json';
  if (!isJson && !essence.startsWith('text/') && essence !== 'application/x-www-form-urlencoded') return undefined;
  if (semicolon < 0) return isJson ? JSON_FORM : TEXT_FORM;
  const charset = charsetOf(contentType.slice(semicolon));
  if (charset === undefined) return undefined;
  const encoding = charset === null ? UTF_8 : encodingOf(charset);
  if (encoding === undefined) return undefined;
  if (isJson) return JSON_FORM;
  return encoding === UTF_8 ? TEXT_FORM : { kind: 'text', charset: encoding };
}

/**
 * True for a body without compression: without a Content-Encoding or with `identity`, because the server never decompresses
 * (decisions §5), and without a Transfer-Encoding other than `chunked`. Node undoes only `chunked`, and passes on bytes in any
 * coding before it (RFC 9112 §7) as if they were the body.
 */
export function isUnpacked(request: { header(name: string): string | null }): boolean {
  const content = request.header('content-encoding');
  if (content !== null && content.trim().toLowerCase() !== 'identity') return false;
  const transfer = request.header('transfer-encoding');
  return transfer === null || transfer.trim().toLowerCase() === 'chunked';
}
