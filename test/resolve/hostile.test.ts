/**
 * Hostile documents: time and memory of an extraction stay within bounds, whatever is repeated or nested. Pieces repeat for a
 * quarter of a megabyte in `npm test`, for one in `npm run test:slow`.
 */
import { describe, expect, it } from 'vitest';
import { extract } from '../../src/resolve/extraction/extract.ts';
import { LINK_COUNT_MAX, TEXT_CODE_POINTS_MAX } from '../../src/resolve/limits.ts';
import { INCLUDES } from '../../src/resolve/result.ts';
import { partOf } from '../support/whole.ts';

/** A part of the greatest body, so that the whole table is quick; the work is linear, which the last test shows. */
const SOME_BYTES = partOf(1_048_576, 262_144);
const BODY_BYTES = 8_388_608;

/** Far above what any of them takes, and far below what a quadratic reader would: a sixteenth for a quarter of the bytes. */
const SECONDS_MAX = partOf(10, 2);

/** Processor time of this thread, which other work on the machine does not lengthen. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function extracted(
  html: string,
  contentType: string | null = 'text/html',
): { readonly content: ReturnType<typeof extract>; readonly ms: number } {
  const document = {
    body: Buffer.from(html),
    contentType,
    url: 'https://hostile.example/',
    include: INCLUDES,
    isTruncated: false,
  };
  const startMs = cpuMs();
  const content = extract(document);
  return { content, ms: cpuMs() - startMs };
}

const repeated = (piece: string, byteCount = SOME_BYTES): string =>
  piece.repeat(Math.floor(byteCount / Buffer.byteLength(piece)));

const PIECES = [
  ...[
    '<div>',
    '</div>',
    '<p><a href=x>',
    '<table><tr><td>',
    '<li>',
    '<b>',
    '<article>',
    '<main>y',
    '<svg><title>',
    '<x-y>',
  ],
  ...['<', '&amp;', '&', '<!--', '<![CDATA[', '<?', '</', '<a b=">', '<script>', '<title>', '<textarea>', '<template>'],
  ...[
    '<br>',
    '<p>x',
    '</p>',
    '<pre>\n\n x',
    '<div></b>',
    '\u0000',
    ' ',
    '\n',
    'é<i>',
    '<time datetime=2020>',
    '<a href=/x>y</a>',
  ],
  ...[
    '<meta name=description content=x>',
    '<link rel=canonical href=/>',
    '<base href=/>',
    '<div a=1 b=2 style="display:none">',
  ],
];

describe('a page that repeats', () => {
  it.each(PIECES.map((piece) => [JSON.stringify(piece), piece] as const))(
    '%s is read within its bounds',
    (_, piece) => {
      const { content, ms } = extracted(repeated(piece));
      expect(ms).toBeLessThan(SECONDS_MAX * 1000);
      expect(content.text!.length).toBeLessThanOrEqual(2 * TEXT_CODE_POINTS_MAX);
      expect(content.links!.length).toBeLessThanOrEqual(LINK_COUNT_MAX);
    },
  );
});

describe('a document without a type', () => {
  // Its first 1024 bytes decide, so a pattern that looks at them must not go back over all ways to read them.
  it.each(['<!---->', '<!-- --> ', '<!--', ' ', '<?xml ', '<!doctype'])(
    'that repeats %j is told apart at once',
    (piece) => {
      const { ms } = extracted(`${repeated(piece, 1000)}x`, null);
      expect(ms).toBeLessThan(1000);
    },
  );
});

describe('a page with', () => {
  const many = (count: number, make: (i: number) => string, between = ''): string =>
    Array.from({ length: count }, (_, i) => make(i)).join(between);
  it.each([
    ['100,000 links', many(100_000, (i) => `<a href="/${i}">link ${i}</a> `)],
    ['33,000 unclosed elements', many(33_000, (i) => `<p><a href=${i}><b>text ${i}`)],
    ['60,000 attributes', `<div ${many(60_000, (i) => `a${i}=${i}`, ' ')}>x</div>`],
    ['a long attribute', `<a href="${'x'.repeat(SOME_BYTES)}">y</a>`],
    ['a long name', `<${'x'.repeat(SOME_BYTES)}>y`],
    ['a long title', `<title>${'x '.repeat(SOME_BYTES / 2)}</title>`],
    ['an end tag for each of 512 open elements', '<div>'.repeat(512) + '</section>'.repeat(150_000)],
    ['JSON-LD nested 400,000 deep', `<script type="application/ld+json">${'['.repeat(400_000)}</script>`],
    [
      'JSON-LD of 100,000 nodes',
      `<script type="application/ld+json">[${many(20_000, () => '{"@type":"A"}', ',')}]</script>`,
    ],
    ['a long run of blanks before a word in pre', `<pre>${' '.repeat(SOME_BYTES)}x</pre>`],
    ['blanks in the place of a date', `<div style="${';'.repeat(8_000)}display">x</div>`],
  ])('%s is read within its bounds', (_, html) => {
    expect(extracted(html).ms).toBeLessThan(SECONDS_MAX * 1000);
  });

  it('8 MiB of nested junk takes about eight times as long as 1 MiB, and little memory', () => {
    const junk = '<div><section><table><tr><td><ul><li><a href=#>';
    extracted(repeated(junk));
    const eighth = extracted(repeated(junk, BODY_BYTES / 8)).ms;
    const before = process.memoryUsage().rss;
    const whole = extracted(repeated(junk, BODY_BYTES)).ms;
    // A quadratic reader takes 64 times as long.
    expect(whole).toBeLessThan(30 * Math.max(eighth, 30));
    expect(process.memoryUsage().rss - before).toBeLessThan(400_000_000);
  });
});
