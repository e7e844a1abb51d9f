/** Twelve pages of our own, each with a trait of real ones, and what a reader finds in them. */

export interface OwnPage {
  readonly trait: string;
  readonly contentType: string;
  readonly body: Uint8Array;
  readonly title: string | null;
  readonly canonical: string | null;
  readonly language: string | null;
  readonly text: string;
  /** More that is expected of the metadata. */
  readonly more?: Readonly<Record<string, string | null>>;
}

/** Where all of them are found. */
export const PAGE_URL = 'https://pages.example/news/2026/page.html?id=1';

const utf8 = (text: string): Uint8Array => Buffer.from(text);
/** Code points up to U+00FF, one byte each. */
const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1');
/** "Привет, мир" in windows-1251, and "日本語" in Shift_JIS. */
const HELLO_1251 = [0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2, 0x2c, 0x20, 0xec, 0xe8, 0xf0];
const JAPANESE_SJIS = [0x93, 0xfa, 0x96, 0x7b, 0x8c, 0xea];
const joined = (...parts: readonly (string | readonly number[])[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))));

const LONG =
  'The river rose in the night and was two metres above its mean by the morning, which the town had not seen for forty years.';
const MORE =
  'Nobody was hurt. The bridge held, the mill did not, and by noon the water had left the market square as quietly as it came.';

export const OWN_PAGES: readonly OwnPage[] = [
  {
    trait: 'an article in main, with navigation, a footer and an aside around it',
    contentType: 'text/html; charset=utf-8',
    body: utf8(`<!DOCTYPE html><html lang="en-GB"><head><title>  The river
      rose </title><link rel="canonical" href="/news/river"><meta name="description" content="A flood &amp; its end.">
      <meta property="og:site_name" content="The Town Crier"><meta property="og:image" content="img/river.jpg">
      <script>document.write('<p>not text</p>')</script><style>p { color: red }</style></head><body>
      <header><a href="/">Home</a></header><nav><ul><li><a href="/a">A</a><li><a href="/b">B</a></ul></nav>
      <main><h1>The river rose</h1><p>${LONG}</p><aside>Read also: droughts</aside><ul><li>bridge<li>mill</ul><p>${MORE}<br>It rained.</p></main>
      <footer>© The Town Crier</footer></body></html>`),
    title: 'The river rose',
    canonical: 'https://pages.example/news/river',
    language: 'en-GB',
    text: `The river rose\n\n${LONG}\n\n- bridge\n- mill\n\n${MORE}\nIt rained.`,
    more: {
      description: 'A flood & its end.',
      site_name: 'The Town Crier',
      image_url: 'https://pages.example/news/2026/img/river.jpg',
      published_at: null,
    },
  },
  {
    trait: 'everything in JSON-LD',
    contentType: 'text/html',
    body: utf8(`<html><script type="application/ld+json">{"@context":"https://schema.org","@graph":[
      {"@type":"Organization","name":"Not the title"},
      {"@type":["NewsArticle"],"headline":"From the graph","description":"As data.","datePublished":"2026-01-02T03:04:05Z",
       "image":[{"@type":"ImageObject","url":"/graph.png"}],"publisher":{"@type":"Organization","name":"Graph Press"}}]}</script>
      <article><p>${LONG}</p></article></html>`),
    title: 'From the graph',
    canonical: null,
    language: null,
    text: LONG,
    more: {
      description: 'As data.',
      site_name: 'Graph Press',
      image_url: 'https://pages.example/graph.png',
      published_at: '2026-01-02T03:04:05Z',
    },
  },
  {
    trait: 'Open Graph alone, and names before values',
    contentType: 'text/html',
    body: utf8(`<meta content="Open title" property="og:title"><meta content="Open words" property="og:description">
      <meta property="og:url" content="//pages.example/open"><meta property="og:locale" content="pt_BR">
      <meta property="article:published_time" content="2026-05-06"><div role="main"><p>${LONG}</p></div><div>Other</div>`),
    title: 'Open title',
    canonical: 'https://pages.example/open',
    language: 'pt-BR',
    text: LONG,
    more: { description: 'Open words', published_at: '2026-05-06' },
  },
  {
    trait: 'no landmarks: the text is where it is longest and not linked',
    contentType: 'text/html',
    body: utf8(`<html lang=de><title>Divs</title><div class=menu><div><a href=1>Start page</a></div><div><a href=2>Products and more</a></div>
      <div><a href=3>A link of a rather long text that leads to other pages of this site</a></div></div>
      <div><h2>Divs all the way down</h2><div>${LONG}</div><div>${MORE}</div></div>
      <div><div><a href=4>Imprint</a></div><div><a href=5>Privacy</a></div></div>`),
    title: 'Divs',
    canonical: null,
    language: 'de',
    text: `Divs all the way down\n\n${LONG}\n${MORE}`,
  },
  {
    trait: 'windows-1251, said by a meta element',
    contentType: 'text/html',
    body: joined(
      '<html lang="ru"><meta http-equiv="Content-Type" content="text/html; charset=windows-1251"><title>',
      HELLO_1251,
      '</title><p>',
      HELLO_1251,
      '.</p>',
    ),
    title: 'Привет, мир',
    canonical: null,
    language: 'ru',
    text: 'Привет, мир.',
  },
  {
    trait: 'Shift_JIS, said by the header against a meta element',
    contentType: 'text/html; charset="Shift_JIS"',
    body: joined('<html lang="ja"><meta charset="utf-8"><title>', JAPANESE_SJIS, '</title><p>', JAPANESE_SJIS, '</p>'),
    title: '日本語',
    canonical: null,
    language: 'ja',
    text: '日本語',
  },
  {
    trait: 'UTF-16 with a byte order mark, whatever the header says',
    contentType: 'text/html; charset=iso-8859-1',
    body: Buffer.concat([
      Buffer.from([0xff, 0xfe]),
      Buffer.from('<html lang=el><title>Καλημέρα</title><p>κόσμε 🌍</p>', 'utf16le'),
    ]),
    title: 'Καλημέρα',
    canonical: null,
    language: 'el',
    text: 'κόσμε 🌍',
  },
  {
    trait: 'ISO-8859-1 with old entities, tables for layout and unclosed elements',
    contentType: 'text/html; charset=iso-8859-1',
    body: latin1(
      `<HTML><HEAD><TITLE>Caf\xe9 &eacute;t\xe9</TITLE><BODY BGCOLOR=white><TABLE><TR><TD><A HREF="a.html">links</A><TD><FONT SIZE=2><P>${LONG}<P>C'est l'\xe9t\xe9 &mdash; <B>enfin<I>!</B></I></TABLE>`,
    ),
    title: 'Café été',
    canonical: null,
    language: null,
    text: `${LONG}\n\nC'est l'été — enfin!`,
  },
  {
    trait: 'XHTML with a base address and a canonical one relative to it',
    contentType: 'application/xhtml+xml',
    body: utf8(`<?xml version="1.0" encoding="UTF-8"?><html xmlns="http://www.w3.org/1999/xhtml" lang="fr"><head><base href="https://base.example/dir/"/>
      <title>Base</title><link rel="alternate canonical" href="./page#top"/></head><body><div><p>${LONG}</p><img src="x.png" alt=""/></div></body></html>`),
    title: 'Base',
    canonical: 'https://base.example/dir/page#top',
    language: 'fr',
    text: LONG,
  },
  {
    trait: 'a title in an SVG, hidden parts, a template and a form around everything',
    contentType: 'text/html',
    body: utf8(`<html lang="nl"><body><svg><title>icon</title></svg><title>After the icon</title><form><div hidden>Accept cookies</div>
      <div style="display: none">Hidden</div><div aria-hidden="true">×</div><template><p>Not yet</p></template><noscript>Enable scripts</noscript>
      <section><p>${LONG}</p><pre>  one
    two  </pre><p>${MORE}</p><button>Buy now</button></section></form>`),
    title: 'After the icon',
    canonical: null,
    language: 'nl',
    text: `${LONG}\n\n  one\n    two\n\n${MORE}`,
  },
  {
    trait: 'a list of articles, of which none is the page',
    contentType: 'text/html',
    body: utf8(`<html lang="es"><title>Blog</title><div><article><h2><a href="/1">One</a></h2><p>${LONG}</p></article>
      <article><h2><a href="/2">Two</a></h2><p>${MORE}</p></article></div><footer>End</footer>`),
    title: 'Blog',
    canonical: null,
    language: 'es',
    text: `One\n\n${LONG}\n\nTwo\n\n${MORE}`,
  },
  {
    trait: 'nothing but navigation, empty values and broken JSON-LD',
    contentType: 'text/html',
    body: utf8(`<html lang=""><title> </title><meta property="og:title" content=""><meta name="description" content="  ">
      <link rel="canonical" href=""><link rel="canonical" href="javascript:void(0)"><script type="application/ld+json">{"@type":"Article",</script>
      <nav><a href="/x">Only links</a></nav><time datetime="2026-07-08">July</time>`),
    title: null,
    canonical: null,
    language: null,
    text: 'July',
    more: { description: null, published_at: '2026-07-08' },
  },
];
