import { describe, expect, it } from 'vitest';
import { parseBoardManifest } from '../../../src/ingest/shapes/board-manifest.ts';

describe('a manifest of boards', () => {
  it('gives companies, domains and addresses, each of which may be left out', () => {
    const text =
      '{"a": {"company": " Acme, Inc. ", "domain": "ACME.com", "url": "https://a.wd5.myworkdayjobs.com/A/"}, ' +
      '"b.json": {"company": "B"}, "c": {}}';
    const parsed = parseBoardManifest(text);
    expect(parsed.ok && [...parsed.manifest]).toEqual([
      ['a', { company: 'Acme, Inc.', domain: 'acme.com', url: 'https://a.wd5.myworkdayjobs.com/A' }],
      ['b.json', { company: 'B', domain: null, url: null }],
      ['c', { company: null, domain: null, url: null }],
    ]);
  });

  it.each([
    ['', 'is not JSON'],
    ['{', 'is not JSON'],
    ['null', 'must be a JSON object of boards'],
    ['[]', 'must be a JSON object of boards'],
    ['{"a": "Acme"}', '"a": must be an object with company, domain and url'],
    ['{"a": {"company": 5}}', '"a": company must be a string'],
    ['{"a": {"company": " "}}', '"a": company is blank'],
    ['{"a": {"domain": "localhost"}}', '"a": domain must be a domain name such as example.com'],
    ['{"a": {"url": "ftp://a.example"}}', '"a": url must be an http or https URL'],
    ['{"a": {"domain": null}}', '"a": domain must be a string'],
    [
      '{"a": {}, "b": {"name": "x"}}',
      '"b": has a field it does not know, "name": only company, domain, aliases and url are read',
    ],
  ])('%s is refused: %s', (text, reason) => {
    expect(parseBoardManifest(text)).toEqual({ ok: false, reason });
  });
});
