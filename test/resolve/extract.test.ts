/** What documents say (siblings §7): pages of our own, the order of sources, types, characters, links and bounds. */
import { describe, expect, it } from 'vitest';
import { extract, TEXT_CUT } from '../../src/resolve/extraction/extract.ts';
import { LINK_COUNT_MAX, TEXT_CODE_POINTS_MAX } from '../../src/resolve/limits.ts';
import { INCLUDES } from '../../src/resolve/result.ts';
import { OWN_PAGES, PAGE_URL } from './pages.ts';

const read = (body: string | Uint8Array, contentType: string | null = 'text/html', include = INCLUDES) =>
  extract({
    body: typeof body === 'string' ? Buffer.from(body) : body,
    contentType,
    url: PAGE_URL,
    include,
    isTruncated: false,
  });
const metadataOf = (html: string) => read(html).metadata!;

describe('a page of our own', () => {
  it.each(OWN_PAGES.map((page) => [page.trait, page] as const))('with %s is read as a reader would', (_, page) => {
    const { metadata, text, warnings } = read(page.body, page.contentType);
    expect(metadata).toMatchObject({
      title: page.title,
      canonical_url: page.canonical,
      language: page.language,
      ...page.more,
    });
    expect(text).toBe(page.text);
    expect(warnings).toEqual([]);
  });

  it('is one of twelve', () => {
    expect(OWN_PAGES).toHaveLength(12);
  });
});

describe('metadata is the first that is found:', () => {
  const LD = (members: object) =>
    `<script type="application/ld+json">${JSON.stringify({ '@type': 'Article', ...members })}</script>`;
  it.each([
    ['title', 'title', `${LD({ headline: 'c' })}<meta property=og:title content=b><title>a</title>`, 'a'],
    ['title', 'og:title', `${LD({ headline: 'c' })}<meta property=og:title content=b>`, 'b'],
    ['title', 'JSON-LD', LD({ headline: 'c' }), 'c'],
    ['title', 'the name in JSON-LD', LD({ name: 'd' }), 'd'],
    ['title', 'the title of a job posting in JSON-LD', LD({ '@type': 'JobPosting', title: 'e' }), 'e'],
    ['title', 'the name where the headline is blank', LD({ headline: ' ', name: 'd' }), 'd'],
    ['description', 'meta', '<meta property=og:description content=b><meta name=DESCRIPTION content=a>', 'a'],
    ['description', 'og:description', `${LD({ description: 'c' })}<meta property=og:description content=b>`, 'b'],
    ['description', 'JSON-LD', LD({ description: 'c' }), 'c'],
    [
      'canonical_url',
      'link',
      '<meta property=og:url content=/b><link rel=canonical href=/a>',
      'https://pages.example/a',
    ],
    ['canonical_url', 'og:url', '<meta property=og:url content=b>', 'https://pages.example/news/2026/b'],
    ['site_name', 'og:site_name', `${LD({ publisher: { name: 'b' } })}<meta property=og:site_name content=a>`, 'a'],
    ['site_name', 'the publisher in JSON-LD', LD({ publisher: [{ name: 'b' }] }), 'b'],
    ['language', 'html', '<html lang=a><meta property=og:locale content=b>', 'a'],
    ['language', 'og:locale', '<html><meta property=og:locale content=en_US>', 'en-US'],
    ['image_url', 'og:image', `${LD({ image: '/b' })}<meta property=og:image content=/a>`, 'https://pages.example/a'],
    ['image_url', 'og:image:url', '<meta property=og:image:url content=/a>', 'https://pages.example/a'],
    ['image_url', 'og:image:secure_url', '<meta property=og:image:secure_url content=/a>', 'https://pages.example/a'],
    ['image_url', 'JSON-LD', LD({ image: { url: '/b' } }), 'https://pages.example/b'],
    [
      'title',
      'the main entity in JSON-LD',
      LD({ '@type': 'WebSite', name: 'b', mainEntity: { '@type': 'Article', name: 'a' } }),
      'a',
    ],
    ['title', 'no JSON-LD without a type', LD({ '@type': undefined, name: 'a' }), null],
    ['title', 'no JSON-LD about a publisher', LD({ '@type': ['Organization', 'Corporation'], name: 'a' }), null],
    ['published_at', 'JSON-LD', `<time datetime=c>${LD({ datePublished: 'a' })}`, 'a'],
    [
      'published_at',
      'article:published_time',
      '<time datetime=c><meta property=article:published_time content=b>',
      'b',
    ],
    ['published_at', 'time', '<time datetime=c>', 'c'],
    ['title', 'an element with text', '<title></title><title>b</title>', 'b'],
    ['title', 'one line', '<title>a\n\t b</title>', 'a b'],
    ['image_url', 'none of another scheme', '<meta property=og:image content="data:image/png;base64,xx">', null],
    ['canonical_url', 'none that cannot be read', '<link rel=canonical href="http://[">', null],
  ] as const)('%s from %s', (member, _, html, value) => {
    expect(metadataOf(html)[member]).toBe(value);
  });
});

describe('a document', () => {
  it.each([
    ['application/json', '{"a":1}', '{"a":1}'],
    ['application/ld+json; charset=utf-8', '[]', '[]'],
    ['text/plain', 'a\r\nb\u0000', 'a\nb'],
    ['text/csv', 'a,b', 'a,b'],
    ['TEXT/MARKDOWN', '# a', '# a'],
    ['application/xhtml+xml', '<head><title/><script src="a.js"/></head><p>a<textarea/></p>', 'a'],
    ['text/html', '<head><script src="a.js"/></head><p>a', ''],
    ['application/xml', '<a><b>one</b><b>two &amp; <![CDATA[<three>]]></b></a>', 'one\ntwo & <three>'],
    [
      'application/rss+xml',
      '<rss><channel><title>Feed</title><item><title>Item</title></item></channel></rss>',
      'Feed\nItem',
    ],
    [null, '<!DOCTYPE html><p>typeless', 'typeless'],
    [null, '<?xml version="1.0"?><a>xml</a>', 'xml'],
    [null, 'typeless <b>text', 'typeless <b>text'],
    [null, 'the <title> of a page', 'the <title> of a page'],
    ['text/html', '<p>one \n  line</p>', 'one line'],
    ['text/html', '<p>one</i> block', 'one block'],
    ['text/html', '<pre>  a\u0007  \n    b\n</pre>', '  a\n    b'],
    ['text/html', '<article><header><h1>Headline</h1></header><p>Text</article>', 'Headline\n\nText'],
    ['text/html', '<header>Site</header><p>Text', 'Text'],
  ])('of the type %s is text', (contentType, body, text) => {
    expect(read(body, contentType).text).toBe(text);
  });

  it.each([
    ['in the case of the header', 'text/html; Charset=ISO-8859-1', [0xe9]],
    ['of its UTF-8 mark before that of the header', 'text/plain; charset=iso-8859-1', [0xef, 0xbb, 0xbf, 0xc3, 0xa9]],
    ['of its UTF-16 mark, big end first', 'text/plain', [0xfe, 0xff, 0x00, 0xe9]],
    ['of its UTF-16 mark, little end first', 'text/plain', [0xff, 0xfe, 0xe9, 0x00]],
  ])('is read by the charset %s', (_, contentType, bytes) => {
    expect(read(Uint8Array.from(bytes), contentType).text).toBe('é');
  });

  it('of XML has the first language that it names', () => {
    const feed = '<feed><title xml:lang="de-CH">a</title><entry xml:lang="fr"/></feed>';
    expect(read(feed, 'application/atom+xml').metadata?.language).toBe('de-CH');
  });

  it('is the article that has most of the text in its main part, and all of them where none has', () => {
    const long = (word: string): string => `${word} `.repeat(100).trim();
    const article = (word: string): string => `<article><p>${long(word)}</p></article>`;
    expect(read(`<main>${article('one')}<p>${'more '.repeat(20)}</p></main>`).text).toBe(long('one'));
    expect(read(`<main>${article('one')}${article('two')}</main>`).text).toBe(`${long('one')}\n\n${long('two')}`);
  });

  it.each([
    ['entities', '<title>Q&amp;A &#x2014; jobs</title>', 'Q&A — jobs'],
    ['marked sections', '<title>a <![CDATA[& b]]></title>', 'a & b'],
    ['nothing in the first', '<title/><title>b</title>', 'b'],
    ['text of others in it', '<title>a<sub>b</sub> c</title>', 'a c'],
  ])('of XML whose title has %s has all of it', (_, title, expected) => {
    expect(read(`<feed>${title}</feed>`, 'application/atom+xml').metadata?.title).toBe(expected);
  });

  it.each([
    ['<!-- ', ' -->'],
    ['/*<![CDATA[*/', '/*]]>*/'],
    ['//<![CDATA[\n', '\n//]]>'],
    ['\n// <![CDATA[\n', '\n// ]]>\n'],
    ['<![CDATA[', ']]>'],
    ['\ufeff', ''],
  ])('has JSON-LD that stands between %j and %j', (start, end) => {
    const block = `<script type="application/ld+json">${start}{"@type":"Article","name":"a"}${end}</script>`;
    expect(metadataOf(block).title).toBe('a');
  });

  it.each(['application/pdf', 'image/png', 'application/octet-stream', 'video/mp4', 'nonsense'])(
    'of the type %s has nulls and a warning',
    (contentType) => {
      const { warnings, ...others } = read('%PDF-1.7', contentType);
      expect(others).toEqual({ metadata: null, text: null, links: null });
      expect(warnings).toEqual([`${contentType} is not text, HTML, XML or JSON: nothing was extracted.`]);
    },
  );

  it('without a type and with a zero byte is no text', () => {
    expect(read(Buffer.from([0x50, 0x4b, 0, 4]), null).text).toBeNull();
  });

  it('gives no half of a character, whether the page has one or a bound makes one', () => {
    const ld = (name: string): string => `<script type="application/ld+json">{"@type":"A","name":${name}}</script>`;
    expect(metadataOf(ld('"a\\ud83eb"')).title).toBe('ab');
    expect(metadataOf(ld('"\\ud83e\\udd8a"')).title).toBe('🦊');
    const blanks = ' '.repeat(8_190);
    expect(metadataOf(`<meta name=description content="a${blanks}🦊">`).description).toBe('a');
    expect(read(`<a href=/x>${' '.repeat(799)}🦊</a>`).links![0]!.text).toBe('');
  });

  it('gives what was asked for and no more', () => {
    for (const include of [[], ['metadata'], ['text'], ['links']] as const) {
      const found = read('<title>a</title>', 'text/html', include as never);
      const given = INCLUDES.filter((part) => found[part] !== null);
      expect(given).toEqual(include);
    }
  });

  it('whose text is too long is cut between code points, with a warning', () => {
    const { text, warnings } = read(`<p>${'🌍'.repeat(TEXT_CODE_POINTS_MAX + 1)}</p>`);
    expect([...text!]).toHaveLength(TEXT_CODE_POINTS_MAX);
    expect(warnings).toEqual([TEXT_CUT]);
    const mixed = read(`<p>${'🌍xx'.repeat(TEXT_CODE_POINTS_MAX)}</p>`).text!;
    expect([...mixed]).toHaveLength(TEXT_CODE_POINTS_MAX);
    expect(read(`<p>${'x'.repeat(TEXT_CODE_POINTS_MAX)}</p>`).warnings).toEqual([]);
  });
});

describe('links', () => {
  it('are absolute, each once, with their words', () => {
    const { links } =
      read(`<base href="/base/"><a href="one">One <b>and</b>\n two</a><a href="https://o.example:443/x#y">O</a>
      <a href="one"><img alt="again"></a><a href="#top">Top</a><a href="mailto:a@b.example">Mail</a><a href="javascript:x()">Script</a>
      <a href="http://[">Bent</a><a name="x">No address</a><a href="?q"><img alt="A picture"></a>`);
    expect(links).toEqual([
      { url: 'https://pages.example/base/one', text: 'One and two' },
      { url: 'https://o.example/x#y', text: 'O' },
      { url: 'https://pages.example/base/?q', text: 'A picture' },
    ]);
  });

  it('have the words that stand for them', () => {
    const { links } = read('<a href=/a>One<br>two</a><a href=/b aria-label="Words"><svg></svg></a>');
    expect(links!.map(({ text }) => text)).toEqual(['One two', 'Words']);
  });

  it('are a hundred at most', () => {
    const { links } = read(Array.from({ length: 150 }, (_, i) => `<a href=/${i}>${i}</a>`).join(''));
    expect(links).toHaveLength(LINK_COUNT_MAX);
    expect(links!.at(-1)).toEqual({ url: 'https://pages.example/99', text: '99' });
  });
});
