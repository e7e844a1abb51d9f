import { describe, expect, it } from 'vitest';
import { InputError, type Member } from '../../../src/ingest/input/input.ts';
import { pageContent } from '../../../src/ingest/input/page-content.ts';
import { contentOf, decodedText } from '../../../src/ingest/input/source-content.ts';
import type { SourceRecord } from '../../../src/ingest/input/source-field.ts';

async function* chunked(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}

function member(content: string | Uint8Array, size = 64): Member {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return { name: 'x', fileName: 'x', bytes: chunked(bytes, size) };
}

async function rowsOf(content: string | Uint8Array, size = 64): Promise<SourceRecord[]> {
  const read = await contentOf(member(content, size));
  if (read.kind !== 'table') throw new Error(read.kind);
  const rows: SourceRecord[] = [];
  for await (const row of read.rows) rows.push({ ...row });
  return rows;
}

describe('how a file is packed', () => {
  it.each([
    ['nothing', '', 'nothing'],
    ['blanks', ' \r\n\n', 'nothing'],
    ['two objects on two lines', '{"a":1}\n{"a":2}', 'lines'],
    ['a broken first line before an object', '{"a":\n{"a":2}\n', 'lines'],
    ['lines behind a BOM', '\ufeff{"a":1}\n{"a":2}\n', 'lines'],
    ['one object on one line', '{"a":1}\n', 'document'],
    ['an object over lines', '{\n  "a": {}\n}\n', 'document'],
    ['an array', '[{"a":1}]', 'document'],
    ['an array with an object a line', '[\n{"a":1}\n]\n', 'document'],
    ['an array behind a BOM', '\ufeff[]', 'document'],
    ['a page', '<!doctype html><title>x</title>', 'page'],
    ['a header', 'a,b\n1,2\n', 'table'],
    ['words', 'nothing of a kind', 'unreadable'],
    ['an array that ends early', '[{"a":1}', 'unreadable'],
    ['bytes', '\u0000\u0001,\u0002', 'unreadable'],
  ])('%s: %j is %s', async (_because, text, kind) => {
    expect((await contentOf(member(text))).kind).toBe(kind);
  });

  it('reads what Python writes for numbers that are none', async () => {
    const read = await contentOf(member('[{"a": NaN, "b": [-Infinity], "c": "x: NaN"}]'));
    expect(read).toEqual({ kind: 'document', document: [{ a: null, b: [null], c: 'x: NaN' }] });
  });

  it('is not nothing where it cannot be read', async () => {
    const denied = new InputError('x: cannot be read (EACCES)');
    // biome-ignore lint/correctness/useYield: it fails before the first byte
    async function* closed(): AsyncGenerator<Uint8Array> {
      throw denied;
    }
    await expect(contentOf({ name: 'x', fileName: 'x', bytes: closed() })).rejects.toBe(denied);
  });

  it('refuses a document that is not UTF-8', async () => {
    await expect(contentOf(member(Buffer.from('["\xe9"]', 'latin1')))).rejects.toThrow(InputError);
  });
});

describe('CSV', () => {
  it('has quotes, line breaks and separators in fields, CRLF, a BOM and blank lines', async () => {
    const text = '\ufeff"a", b\r\n"x, ""y""","one\r\ntwo"\r\n\r\n,\r\n3,4\r\n';
    expect(await rowsOf(text)).toEqual([
      { a: 'x, "y"', b: 'one\r\ntwo' },
      { a: '3', b: '4' },
    ]);
  });

  it.each([
    [';', 'a;b,c\n1;2\n'],
    ['a tabulator', 'a\tb,c\n1\t2\n'],
  ])('may be separated by %s', async (_because, text) => {
    expect(await rowsOf(text.replace('b,c', 'b'))).toEqual([{ a: '1', b: '2' }]);
  });

  it('keeps rows that are too short or too long', async () => {
    expect(await rowsOf('a,b\n1\n1,2,3\n')).toEqual([{ a: '1' }, { a: '1', b: '2' }]);
  });

  it('gives the same rows however it is cut', async () => {
    const text = `title,company\n${'Köchin 🍲,Żółw & Co\n'.repeat(20)}`;
    const whole = await rowsOf(text, 1 << 20);
    expect(whole[19]).toEqual({ title: 'Köchin 🍲', company: 'Żółw & Co' });
    for (const size of [1, 2, 3, 7, 64]) expect(await rowsOf(text, size)).toEqual(whole);
  });

  it.each([1, 2, 5, 1000])('in Windows-1252 is read as that, %i bytes at a time', async (size) => {
    const ascii = 'x'.repeat(100);
    const bytes = Buffer.concat([Buffer.from(`a,b\n${ascii},`), Buffer.of(0x80, 0x93, 0xe9, 0x94), Buffer.from('\n')]);
    expect(await rowsOf(bytes, size)).toEqual([{ a: ascii, b: '€“é”' }]);
  });

  it('in damaged UTF-8 stays UTF-8', async () => {
    const bytes = Buffer.concat([Buffer.from('a,b\nżółć,'), Buffer.of(0xe9), Buffer.from(',\n')]);
    expect(await rowsOf(bytes)).toEqual([{ a: 'żółć', b: '\ufffd' }]);
  });

  it('that never ends a field is not well-formed', async () => {
    await expect(rowsOf(`a,b\n"${'x'.repeat(5_000_000)}`, 1 << 16)).rejects.toThrow('x: is not well-formed CSV');
  });
});

describe('text of unknown encoding', () => {
  it.each([
    ['nothing', '', ''],
    ['ASCII', 'abc', 'abc'],
    ['UTF-8 that ends in its first other character', 'ab🍲', Buffer.from('ab🍲')],
    ['UTF-8 whose first other character is long', 'ab🍲cdé', Buffer.from('ab🍲cdé')],
    ['Windows-1252 that ends in its first other character', 'abé', Buffer.from('abé', 'latin1')],
    ['Windows-1252 that has one pair as in UTF-8', 'é é é Ã© a', Buffer.from('é é é Ã© a', 'latin1')],
  ])('is read as what it is: %s', async (_what, text, bytes) => {
    for (const size of [1, 2, 3, 4, 5, 100]) {
      let out = '';
      for await (const part of decodedText(chunked(Buffer.from(bytes), size))) out += part;
      expect(out).toBe(text);
    }
  });
});

describe('a page', () => {
  const script = (text: string) => `<script type="application/ld+json">${text}</script>`;

  it('gives its JSON-LD, each script on its own, and the canonical address', () => {
    const html = `<link rel="canonical" href="https://a.example/1"><meta property="og:url" content="https://b.example">
      ${script('{"@type":"JobPosting"}')}<script>var x = {}</script>${script('not JSON')}${script('[1]')}`;
    expect(pageContent(html)).toMatchObject({ document: [{ '@type': 'JobPosting' }, [1]], url: 'https://a.example/1' });
  });

  it('gives og:url where there is no canonical address, and none that is a path', () => {
    expect(pageContent('<meta property="og:url" content="https://b.example/2">').url).toBe('https://b.example/2');
    expect(pageContent('<link rel="canonical" href="/jobs/1">').url).toBeNull();
  });

  it('mends line breaks inside of strings', () => {
    expect(pageContent(script('{"description": "one\ntwo"}')).document).toEqual([{ description: 'one two' }]);
  });
});
