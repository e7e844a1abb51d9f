/** The layout of the house, kept true: which folder may import which, no circles, no barrels, pure folders pure. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../src/version.ts';

const SRC = fileURLToPath(new URL('../src', import.meta.url));

/** Folder -> folders that it may import from (besides itself). The root files of src stand under their own names. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  catalogue: ['base'],
  payment: ['base'],
  callback: ['base'],
  ingest: ['base', 'catalogue'],
  http: ['base'],
  gates: ['base', 'http', 'payment', 'callback'],
  api: ['base', 'http', 'catalogue', 'callback'],
  adapters: ['base', 'catalogue', 'payment', 'callback', 'ingest'],
  load: ['base', 'payment', 'callback'],
};

const PURE = ['base', 'catalogue', 'payment', 'callback'];

/** What a pure folder must not touch; clocks and randomness are handed in. */
const IMPURE = [
  /\bDate\.now\(/,
  /\bnew Date\(\)/,
  /\bMath\.random\(/,
  /\bsetTimeout\(/,
  /\bsetInterval\(/,
  /\bfetch\(/,
  /\bnew (Request|Response)\(/,
  /\bprocess\./,
  // A digest and a comparison of two follow from their input alone.
  /(?<!import \{ hash(?:, timingSafeEqual)? \} )from 'node:(?!(?:zlib|buffer)')/,
  /from 'node:(?!(?:zlib|buffer|crypto)')/,
];

/** The two ports' own system implementations are the one place where the ambient clock and randomness are read. */
const PORTS = ['base/clock.ts', 'base/random.ts'];

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.replaceAll('\\', '/'))
  .sort();
const textOf = (file: string): string => readFileSync(join(SRC, file), 'utf8');
const folderOf = (file: string): string => (file.includes('/') ? (file.split('/')[0] as string) : '');

function importsOf(file: string): string[] {
  const found = [...textOf(file).matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, path]) => path as string);
  return found
    .filter((path) => path.endsWith('.ts'))
    .map((path) => relative(SRC, resolve(SRC, dirname(file), path)).replaceAll('\\', '/'));
}

describe('the house', () => {
  it('has files to look at', () => {
    expect(files.length).toBeGreaterThan(30);
  });

  it.each(files)('%s imports only from where its folder may', (file) => {
    const allowed = MAY_IMPORT[folderOf(file)];
    if (allowed === undefined) return; // cli and the joining files of the root see everything
    const wrong = importsOf(file).filter((target) => {
      const folder = folderOf(target);
      return folder !== folderOf(file) && !allowed.includes(folder);
    });
    expect(wrong).toEqual([]);
  });

  it('keeps the joining files out of every folder but cli', () => {
    const wrong = files
      .filter((file) => folderOf(file) !== '' && folderOf(file) !== 'cli')
      .flatMap((file) => importsOf(file).filter((target) => folderOf(target) === '' || folderOf(target) === 'cli'));
    expect(wrong).toEqual([]);
  });

  it('has no import circles, not even of types', () => {
    const state = new Map<string, 'open' | 'done'>();
    const circles: string[] = [];
    const visit = (file: string, path: readonly string[]): void => {
      if (state.get(file) === 'done') return;
      if (state.get(file) === 'open') {
        circles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
        return;
      }
      state.set(file, 'open');
      for (const target of importsOf(file)) visit(target, [...path, file]);
      state.set(file, 'done');
    };
    for (const file of files) visit(file, []);
    expect(circles).toEqual([]);
  });

  it('has no barrel files', () => {
    expect(files.filter((file) => /^export (\*|\{[^}]*\}) from /m.test(textOf(file)) && file !== 'index.ts')).toEqual(
      [],
    );
  });

  it.each(files.filter((file) => PURE.includes(folderOf(file)) && !PORTS.includes(file)))(
    '%s reads no ambient clock, randomness, network or files',
    (file) => {
      const code = textOf(file).replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
      expect(IMPURE.filter((pattern) => pattern.test(code)).map(String)).toEqual([]);
    },
  );

  it('states the version of package.json', () => {
    const { version } = JSON.parse(readFileSync(join(SRC, '..', 'package.json'), 'utf8')) as { version: string };
    expect(VERSION).toBe(version);
  });

  it('the README has no place left to fill in', () => {
    expect(readFileSync(new URL('../README.md', import.meta.url), 'utf8')).not.toMatch(/@@|TODO|TBD/);
  });
});
