import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { Parser } from 'htmlparser2';
import { describe, expect, it } from 'vitest';
import { parsedJson } from '../../../src/ingest/input/lenient-json.ts';
import { pageContent } from '../../../src/ingest/input/page-content.ts';
import { realDataMissing, realFile, skippedWithout } from '../real-data.ts';

/** The same by a parser that keeps the open elements: clear, and slow on nested pages. */
function byParser(html: string): ReturnType<typeof pageContent> {
  const document: unknown[] = [];
  let canonical: string | null = null;
  let shared: string | null = null;
  let script: string | null = null;
  let hasNextPage = false;
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === 'script' && /^application\/ld\+json\b/i.test(attributes.type?.trim() ?? '')) script = '';
      if (name === 'link' && attributes.rel?.toLowerCase() === 'canonical') canonical ??= attributes.href ?? null;
      if ((name === 'a' || name === 'link') && attributes.rel?.toLowerCase().split(/\s+/).includes('next'))
        hasNextPage = true;
      if (name === 'meta' && attributes.property?.toLowerCase() === 'og:url') shared ??= attributes.content ?? null;
    },
    ontext(text) {
      if (script !== null) script += text;
    },
    onclosetag(name) {
      if (name !== 'script' || script === null) return;
      const parsed = parsedJson(script.replace(/^\s*<!--|-->\s*$/g, ''));
      if (parsed.ok) document.push(parsed.value);
      script = null;
    },
  });
  parser.end(html);
  const url: string | null = canonical ?? shared;
  return { document, url: url !== null && /^https?:\/\//i.test(url) ? url : null, hasNextPage };
}

describe('the content of a page', () => {
  it('counts the first of a repeated attribute and decodes entities in values', () => {
    const html = '<link rel=canonical href="https://a.example/?a=1&amp;b=2" href="https://b.example/">';
    expect(pageContent(html).url).toBe('https://a.example/?a=1&b=2');
  });

  it('reads a script that the page never closes', () => {
    expect(pageContent('<script type="application/ld+json">{"a":1}').document).toEqual([{ a: 1 }]);
  });

  it('is what a parser of elements finds in any sequence of tags', () => {
    const piece = fc.constantFrom(
      ...[
        '<div>',
        '<a rel=next href=2>',
        '<link rel="NEXT nofollow">',
        '</div>',
        '<p>',
        '</p>',
        '<table><tr>',
        '</i>',
        '<!--',
        '-->',
        '<br/>',
        'text',
        '&amp;',
        '"',
        '>',
        ' ',
      ],
      ...[
        '<script>',
        '</script>',
        '<script type="application/ld+json">',
        '<SCRIPT TYPE=application/ld+json>',
        '{"a":1}',
      ],
      ...['<link rel="canonical" href="https://a.example/">', '<meta property=og:url content=https://b.example/&lt;>'],
      ...[
        '<link rel="canonical"',
        ' href="https://c.example/"',
        '<meta content="https://d.example/" property="OG:URL">',
      ],
      // Others with the same attributes.
      ...[
        '<link rel=stylesheet href=https://e.example/>',
        '<a rel=canonical href=https://f.example/>',
        '<meta name=description content=https://g.example/>',
        '<link property=og:url content=https://h.example/>',
        '<p rel=next>',
        '<script type="application/ld+json"/>',
      ],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const html = pieces.join('');
        expect(pageContent(html)).toEqual(byParser(html));
      }),
      { numRuns: 2000 },
    );
  });

  it.skipIf(realDataMissing)(`is what a parser of elements finds in a real page${skippedWithout}`, () => {
    const html = readFileSync(realFile('jsonld-workday-medtronic-page.html'), 'utf8');
    const found = pageContent(html);
    expect(found).toEqual(byParser(html));
    expect(found.document.length).toBeGreaterThan(0);
    expect(found.url).not.toBeNull();
  });
});
