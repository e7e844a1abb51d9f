import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { htmlText } from '../../../src/ingest/input/html-text.ts';

const table: readonly (readonly [because: string, html: string, text: string])[] = [
  ['an empty text stays empty', '', ''],
  ['plain text is returned as it is, blanks included', '  two\n\n lines\t', '  two\n\n lines\t'],
  ['paragraphs have a blank line between them', '<p>one</p><p>two</p>', 'one\n\ntwo'],
  ['a paragraph that is not closed ends at the next', '<p>one<p>two', 'one\n\ntwo'],
  ['list items are lines with a bullet', '<ul><li>Go</li><li>Rust</li></ul>', '- Go\n- Rust'],
  ['a list stands apart', '<p>Uses</p><ul><li><p>Go</p></li></ul>after', 'Uses\n\n- Go\n\nafter'],
  ['lists in lists stay lines', '<ol><li>a<ul><li>b</li></ul></li><li>c</li></ol>', '- a\n- b\n- c'],
  ['an item with a bullet of its own keeps that', '<ul><li>• Go</li><li>- Rust</li></ul>', '• Go\n- Rust'],
  ['an item of two lines has one bullet', '<ul><li>a<br>b</li></ul>', '- a\nb'],
  ['an item keeps its bullet behind an empty element', '<ul><li><b></b>Go</li></ul>', '- Go'],
  ['an item that nothing closes ends with its list', '<ul><li></ul>one<ol><li></ol>two', 'one\n\ntwo'],
  ['paragraphs after an ordered list stand apart', '<ol><li>a</li></ol><p>b</p><p>c</p>', '- a\n\nb\n\nc'],
  ['an empty item lends its bullet to nothing', '<ul><li></li></ul><p>one</p>', 'one'],
  ['a heading stands apart', 'a<h3>B</h3>c', 'a\n\nB\n\nc'],
  ['two <br> are a blank line', 'a<br><br>b<br>c', 'a\n\nb\nc'],
  ['an empty line between blocks stays', '<div>a</div><div><br></div><div>b</div>', 'a\n\nb'],
  ['<br> is a line break in any spelling', 'a<br>b<br/>c<BR />d', 'a\nb\nc\nd'],
  ['empty blocks leave one blank line', '<div>a</div><div></div><p><br></p><div>b</div>', 'a\n\nb'],
  ['inline elements join', '<b>Java</b>Script and <i>C</i><em>++</em>', 'JavaScript and C++'],
  ['cells are lines', '<table><tr><td>SQL</td><td>R</td></tr></table>', 'SQL\nR'],
  ['white space of the source collapses', '<p>one\n   two\t three </p>', 'one two three'],
  ['no-break spaces collapse too', '<p>one&nbsp;&nbsp; two</p>', 'one two'],
  ['white space between inline elements stays', '<b>one</b> <i>two</i>', 'one two'],
  ['preformatted lines stay lines', '<pre>one\ntwo\n\nthree</pre>\nfour', 'one\ntwo\n\nthree\n\nfour'],
  ['script content is dropped', '<p>a</p><script>if (a < b) x("<p>no</p>")</script><p>b</p>', 'a\n\nb'],
  ['style content is dropped', '<style>p > a { color: red }</style><p>a</p>', 'a'],
  ['a script that never ends takes the rest', '<p>a</p><script>b', 'a'],
  ['comments are dropped', '<p>a<!-- <p>no</p> -->b</p>', 'ab'],
  ['attributes are not text', '<p title="a > b" style=x>text</p>', 'text'],
  ['named entities are decoded', '<p>R&amp;D &lt;3 caf&eacute; &euro;</p>', 'R&D <3 café €'],
  ['numeric entities are decoded', '<p>&#39;a&#x27; &#128512;</p>', "'a' 😀"],
  ['what is no entity stays', '<p>AT&T, R&D, &unknown;</p>', 'AT&T, R&D, &unknown;'],
  ['entities of plain text are decoded, its lines stay', 'R&amp;D\n\n- Q&amp;A', 'R&D\n\n- Q&A'],
  ['plain text keeps a generic type', 'List<String> & Map<K, V>', 'List<String> & Map<K, V>'],
  ['plain text keeps comparisons', 'x < 3 &amp; y > 4', 'x < 3 & y > 4'],
  ['HTML escaped once is unescaped once', '&lt;p&gt;one&lt;/p&gt;&lt;ul&gt;&lt;li&gt;two&lt;/li&gt;', 'one\n\n- two'],
  ['entities inside escaped HTML are decoded', '&lt;p&gt;R&amp;amp;D&amp;nbsp;team&lt;/p&gt;', 'R&D team'],
  ['escaped HTML with attributes is recognised', '&lt;div class="x"&gt;one&lt;br&gt;two&lt;/div&gt;', 'one\ntwo'],
  ['numeric escapes of tags are recognised', '&#60;p&#62;one&#60;/p&#62;', 'one'],
  ['an escaped tag inside HTML is text', '<p>the &lt;p&gt; element</p>', 'the <p> element'],
  ['escaped HTML with a tag added is unescaped', '&lt;p&gt;one&lt;/p&gt; <a href="x">two</a>', 'one\n\ntwo'],
  ['an escaped word that is no tag is text', 'a &lt;placeholder&gt; here', 'a <placeholder> here'],
  ['unknown elements vanish inside HTML', '<p><o:p>one</o:p><x-y>two</x-y></p>', 'onetwo'],
  ['an unfinished tag ends the text', '<p>one</p><div cla', 'one'],
  ['a stray end tag breaks too', 'one</p>two', 'one\n\ntwo'],
  ['letter case of tags does not matter', '<P>one</P><LI>two</LI>', 'one\n\n- two'],
];

describe('the text of HTML', () => {
  test.each(table)('%s', (_because, html, text) => {
    expect(htmlText(html)).toBe(text);
  });

  test('any text is read without an error, and HTML text holds no known tag unless one was escaped', () => {
    const pieces = fc.constantFrom(
      '<p>',
      '</p>',
      '<li>',
      '<br/>',
      '&lt;',
      '&amp;',
      '&',
      '<',
      '>',
      'a',
      ' ',
      '\n',
      '<pre>',
      '<!--',
      '-->',
      '<script>',
      '</script>',
      '"',
      '=',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string())), (parts) => {
        const html = parts.join('');
        const text = htmlText(html);
        expect(typeof text).toBe('string');
        if (!html.includes('<') && !html.includes('&')) expect(text).toBe(html);
      }),
      { numRuns: 1000 },
    );
  });

  test('paragraphs of plain words come back, a blank line apart, however they are wrapped and escaped', () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(words, { minLength: 1, maxLength: 6 }), fc.boolean(), (lines, isEscaped) => {
        const html = lines.map((line) => `<p class="c">${line.join('\n ')}</p>`).join('\n');
        const source = isEscaped ? html.replaceAll('<', '&lt;').replaceAll('>', '&gt;') : html;
        expect(htmlText(source)).toBe(lines.map((line) => line.join(' ')).join('\n\n'));
      }),
    );
  });

  test.each([
    ['open elements', '<div>'],
    ['end tags', '</p>'],
    ['unfinished tags', '<p '],
    ['ampersands', '&'],
    ['escaped tags', '&lt;p&gt;'],
    ['brackets', '<'],
    ['comment starts', '<!--'],
    ['blanks', ' \n<b>'],
  ])('a megabyte of %s are read in linear time', (_what, piece) => {
    const timeOf = (bytes: number): number => {
      const html = piece.repeat(Math.ceil(bytes / piece.length));
      const startedMs = performance.now();
      htmlText(html);
      return performance.now() - startedMs;
    };
    timeOf(100_000);
    // Quadratic work would need minutes; the bound leaves room for a busy machine.
    expect(timeOf(1_000_000)).toBeLessThan(10_000);
  });
});
