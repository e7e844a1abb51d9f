/**
 * Decodes a document: by its byte order mark, else its header's charset, else the encoding that its own first bytes name, else
 * UTF-8 (WHATWG HTML §13.2.3.2; the Encoding Standard; XML 1.0, appendix F). Malformed bytes become U+FFFD.
 */

/** WHATWG HTML: a document names its encoding in its first 1024 bytes. */
const PRESCAN_BYTES = 1_024;

const META = /<meta\s[^>]*?charset\s*=\s*["']?\s*([^\s"'/>;]+)/i;
const XML_DECLARATION = /^\s*<\?xml\s[^>]*?encoding\s*=\s*["']([^"']+)["']/i;
const HEADER_CHARSET = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i;

/** Byte order marks and their encodings. */
const MARKS: readonly (readonly [readonly number[], string])[] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xfe, 0xff], 'utf-16be'],
  [[0xff, 0xfe], 'utf-16le'],
];

function decoderFor(label: string | undefined): TextDecoder | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label.trim());
  } catch {
    return undefined;
  }
}

/** The encoding that the document's own beginning names. If that is UTF-16, UTF-8 is meant: the name was readable as ASCII. */
function declaredIn(body: Uint8Array): TextDecoder | undefined {
  let head = '';
  for (const byte of body.subarray(0, PRESCAN_BYTES)) head += String.fromCharCode(byte);
  const decoder = decoderFor(XML_DECLARATION.exec(head)?.[1] ?? META.exec(head)?.[1]);
  return decoder?.encoding.startsWith('utf-16') ? new TextDecoder() : decoder;
}

/** @param declares whether the document may name its encoding itself, as HTML and XML do */
export function decodeDocument(body: Uint8Array, contentType: string | null, declares: boolean): string {
  const mark = MARKS.find(([bytes]) => bytes.every((byte, i) => body[i] === byte));
  const [, quoted, plain] = HEADER_CHARSET.exec(contentType ?? '') ?? [];
  const decoder =
    decoderFor(mark?.[1]) ??
    decoderFor(quoted ?? plain) ??
    (declares ? declaredIn(body) : undefined) ??
    new TextDecoder();
  return decoder.decode(body);
}
