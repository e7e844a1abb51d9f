/**
 * Sixty real pages, read from the folder that PAYGRADE_TEST_PAGES names; skipped, and said so, where there is none. Title, canonical
 * address and language are right on 95 % of them, and no text has markup in it.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { extract } from '../../src/resolve/extraction/extract.ts';
import { COMMIT, FOUND_AT, pathOf, REAL_PAGES, REPOSITORY } from './real-page-table.ts';

const SHARE_MIN = 0.95;

const folder = process.env.PAYGRADE_TEST_PAGES;
const isThere = folder !== undefined && existsSync(folder);
const SKIPPED = `PAYGRADE_TEST_PAGES names no folder: real pages were not read (github.com/${REPOSITORY} at ${COMMIT})`;

if (!isThere) console.warn(`SKIPPED: ${SKIPPED}`);

function read(page: string, digest: string) {
  const body = readFileSync(join(folder as string, REPOSITORY, pathOf(page)));
  expect([page, createHash('sha256').update(body).digest('hex')]).toEqual([page, digest]);
  const contentType = 'text/html; charset=utf-8';
  return extract({ body, contentType, url: FOUND_AT, include: ['metadata', 'text'], isTruncated: false });
}

describe('real pages', () => {
  it.skipIf(!isThere)('have the title, canonical address and language that another parser reads', () => {
    const wrong: unknown[] = [];
    for (const [page, digest, title, canonical, language] of REAL_PAGES) {
      const { metadata } = read(page, digest);
      const found = [metadata?.title, metadata?.canonical_url, metadata?.language];
      if (JSON.stringify(found) !== JSON.stringify([title, canonical, language])) wrong.push([page, ...found]);
    }
    expect(REAL_PAGES.length).toBeGreaterThanOrEqual(60);
    expect(wrong.slice(Math.floor((1 - SHARE_MIN) * REAL_PAGES.length))).toEqual([]);
  });

  it.skipIf(!isThere)('have a text without markup or scripts', () => {
    const bad = REAL_PAGES.flatMap(([page, digest]) => {
      const { text } = read(page, digest);
      const found =
        /<\/(?:div|p|li|ul|script|style)>|<(?:div|span|p|a|meta|link|script)\s[^>]*=|function\s*\(\)\s*\{|@media\s/i.exec(
          text ?? '',
        );
      return text !== null && text.length > 200 && found === null ? [] : [[page, text?.length, found?.[0]]];
    });
    // A few show their readers a tag, escaped twice.
    expect(bad.slice(Math.floor((1 - SHARE_MIN) * REAL_PAGES.length))).toEqual([]);
  });
});
