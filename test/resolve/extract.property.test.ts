/** Whatever bytes a target sends, an extraction ends, keeps its bounds, and gives what JSON can carry. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TARGET_LENGTH_MAX } from '../../src/outbound/limits.ts';
import { extract } from '../../src/resolve/extraction/extract.ts';
import { DESCRIPTION_MAX, LINK_COUNT_MAX, LINK_TEXT_MAX, SHORT_VALUE_MAX } from '../../src/resolve/limits.ts';
import { INCLUDES } from '../../src/resolve/result.ts';

const NAMES = [
  'div',
  'p',
  'a',
  'main',
  'article',
  'nav',
  'title',
  'script',
  'style',
  'svg',
  'pre',
  'br',
  'li',
  'table',
  'td',
  'x-y',
  'template',
];
const ATTRIBUTES = [
  'href=/x',
  'href="http://o.example/"',
  'hidden',
  'role=main',
  'lang=en',
  'property=og:title content=t',
  'type="application/ld+json"',
  'style="display:none"',
  'a=">"',
];
const words = fc.constantFrom(
  'word',
  ' ',
  '\n',
  '&amp;',
  '&#0;',
  '&#x1f30d;',
  'é',
  '<',
  '{"@type":"A","name":"b"}',
  '<script type=application/ld+json>{"@type":"A","name":"b\\ud83e"}</script>',
  '\u0001',
  '\ud800',
);
const tag = fc
  .tuple(
    fc.constantFrom('', '/'),
    fc.constantFrom(...NAMES),
    fc.array(fc.constantFrom(...ATTRIBUTES), { maxLength: 2 }),
  )
  .map(([slash, name, attributes]) => `<${slash}${[name, ...attributes].join(' ')}>`);
const markup = fc.array(fc.oneof(tag, words), { maxLength: 60 }).map((pieces) => pieces.join(''));
const body = fc.oneof(
  markup.map((text) => new Uint8Array(Buffer.from(text))),
  fc.uint8Array({ maxLength: 300 }),
);
const contentType = fc.constantFrom(
  null,
  'text/html',
  'text/html; charset=utf-16le',
  'application/xml',
  'text/plain; charset=nonsense',
  'application/json',
  ';',
);

const lengthOf = (text: string): number => [...text].length;

describe('an extraction of anything', () => {
  it('keeps its bounds, is the same again, and shows no control characters', () => {
    fc.assert(
      fc.property(body, contentType, (bytes, type) => {
        const document = {
          body: bytes,
          contentType: type,
          url: 'https://p.example/d/',
          include: INCLUDES,
          isTruncated: false,
        };
        const found = extract(document);
        expect(extract(document)).toEqual(found);
        const texts = Object.values({
          ...found.metadata,
          text: found.text,
          link: found.links?.map((link) => link.text).join(),
        });
        for (const one of texts) expect(one?.isWellFormed()).not.toBe(false);
        const { metadata, text, links } = found;
        if (metadata === null) return;
        for (const [name, value] of Object.entries(metadata)) {
          if (value === null) continue;
          expect(value.trim()).not.toBe('');
          if (name.endsWith('_url')) expect(new URL(value).href).toBe(value);
          else expect(lengthOf(value)).toBeLessThanOrEqual(name === 'description' ? DESCRIPTION_MAX : SHORT_VALUE_MAX);
        }
        expect(text).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/);
        expect(links!.length).toBeLessThanOrEqual(LINK_COUNT_MAX);
        for (const link of links!) {
          expect(link.url).toMatch(/^https?:/);
          expect(link.url.length).toBeLessThanOrEqual(TARGET_LENGTH_MAX);
          expect(lengthOf(link.text)).toBeLessThanOrEqual(LINK_TEXT_MAX);
        }
        expect(new Set(links!.map(({ url }) => url)).size).toBe(links!.length);
      }),
      { numRuns: 300 },
    );
  });
});
