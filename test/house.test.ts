/**
 * The layout of the house, kept true: which folder may import which, no circles, no barrels, pure folders pure, functions and
 * files of a size that is read at once. Each rule is also shown made-up sources that break it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../src/base/version.ts';
import {
  BARRELS_ALLOWED,
  IMPORTS_ALLOWED,
  IMPURE_ALLOWED,
  LONG_FILES_ALLOWED,
  LONG_FUNCTIONS_ALLOWED,
  PROCESS_TESTS_ALLOWED,
} from './house/exceptions.ts';
import {
  areaOf,
  bannedWordCounts,
  barrels,
  circles,
  defaultExports,
  FILE_LINES_MAX,
  FUNCTION_LINES_MAX,
  forbiddenImports,
  impurities,
  incompleteContracts,
  longFiles,
  longFunctions,
  PURE,
  unknownFolders,
  unnamedProcessTests,
} from './house/rules.ts';
import { type Source, sourceOf } from './house/source.ts';

function sourcesIn(folder: string): Source[] {
  const root = fileURLToPath(new URL(folder, import.meta.url));
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts'))
    .sort()
    .map((file) => sourceOf(file, readFileSync(join(root, file), 'utf8')));
}

const sources = sourcesIn('../src');
const tests = sourcesIn('.');

type Exceptions = Readonly<Record<string, string>>;
const without = (found: Iterable<string>, exceptions: Exceptions): string[] =>
  [...found].filter((one) => exceptions[one] === undefined);

describe('the house', () => {
  it('has files to look at', () => {
    expect(sources.length).toBeGreaterThan(30);
    expect(tests.length).toBeGreaterThan(30);
  });

  it('has no folder that the drawing does not know', () => {
    expect(unknownFolders(sources)).toEqual([]);
  });

  it.each(sources.map((source) => [source.file, source] as const))(
    '%s imports only from where its folder may',
    (_, source) => {
      expect(without(forbiddenImports(source), IMPORTS_ALLOWED)).toEqual([]);
    },
  );

  it('has no import circles, not even of types', () => {
    expect(circles(sources)).toEqual([]);
  });

  it('has no barrel files', () => {
    expect(without(barrels(sources), BARRELS_ALLOWED)).toEqual([]);
  });

  it('exports everything by its name', () => {
    expect(defaultExports(sources)).toEqual([]);
  });

  it.each(
    sources
      .filter(({ file }) => PURE.includes(areaOf(file)) && IMPURE_ALLOWED[file] === undefined)
      .map((source) => [source.file, source] as const),
  )('%s reads no ambient clock, randomness, network or files', (_, source) => {
    expect(impurities(source)).toEqual([]);
  });

  it(`has no function above ${FUNCTION_LINES_MAX} lines but those with a reason`, () => {
    expect(without(longFunctions(sources).keys(), LONG_FUNCTIONS_ALLOWED)).toEqual([]);
  });

  it(`has no file above ${FILE_LINES_MAX} lines but those with a reason`, () => {
    expect(without(longFiles(sources).keys(), LONG_FILES_ALLOWED)).toEqual([]);
  });

  it('has no banned word in its comments', () => {
    expect([...bannedWordCounts(sources)]).toEqual([]);
  });

  it('names every test that starts processes or opens sockets for it', () => {
    expect(without(unnamedProcessTests(tests), PROCESS_TESTS_ALLOWED)).toEqual([]);
  });

  it('leaves no test of the contract suite out', () => {
    expect(tests.filter(({ file }) => file.startsWith('contract/')).length).toBeGreaterThan(20);
    expect(incompleteContracts(tests)).toEqual([]);
  });

  it.each<readonly [string, Iterable<string>, Exceptions]>([
    ['import', sources.flatMap(forbiddenImports), IMPORTS_ALLOWED],
    ['barrel', barrels(sources), BARRELS_ALLOWED],
    ['impure file', sources.filter((one) => impurities(one).length > 0).map(({ file }) => file), IMPURE_ALLOWED],
    ['long function', longFunctions(sources).keys(), LONG_FUNCTIONS_ALLOWED],
    ['long file', longFiles(sources).keys(), LONG_FILES_ALLOWED],
    ['process test', unnamedProcessTests(tests), PROCESS_TESTS_ALLOWED],
  ])('lists no exception that nothing needs: %s', (_, found, exceptions) => {
    const needed = new Set(found);
    expect(Object.keys(exceptions).filter((one) => !needed.has(one))).toEqual([]);
  });

  it('states the version of package.json', () => {
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
      version: string;
    };
    expect(VERSION).toBe(version);
  });

  it('the README has no place left to fill in', () => {
    expect(readFileSync(new URL('../README.md', import.meta.url), 'utf8')).not.toMatch(/@@|TODO|TBD/);
  });
});

describe('a rule of the house fails for', () => {
  const made = (files: Readonly<Record<string, string>>): Source[] =>
    Object.entries(files).map(([file, text]) => sourceOf(file, text));
  const lines = (count: number): string => 'work();\n'.repeat(count);

  it('a folder that it does not know, and a file of the root that is none of ours', () => {
    const wrong = ['shop/till.ts', 'helpers.ts', 'adapters2/x.ts'];
    expect(unknownFolders(made(Object.fromEntries(wrong.map((file) => [file, 'export const a = 1;']))))).toEqual(wrong);
    expect(unknownFolders(made({ 'base/a.ts': '', 'modules/jobs/deep/a.ts': '', 'main.ts': '' }))).toEqual([]);
  });

  it.each([
    ['base/a.ts', '../payment/b.ts'],
    ['payment/a.ts', '../callback/b.ts'],
    ['payment/deep/a.ts', '../../http/b.ts'],
    ['http/a.ts', '../payment/b.ts'],
    ['modules/jobs/a.ts', '../callbacks/b.ts'],
    ['modules/jobs/a.ts', '../../app/b.ts'],
    ['modules/list.ts', './jobs/b.ts'],
    ['modules/jobs/a.ts', '../../storage/b.ts'],
    ['storage/a.ts', '../adapters/b.ts'],
    ['app/a.ts', '../cli/b.ts'],
    ['load/a.ts', '../index.ts'],
    ['cli/a.ts', '../main.ts'],
  ])('%s that imports %s', (file, target) => {
    for (const text of [
      `import { b } from '${target}';`,
      `import type { B } from '${target}';`,
      `export { b } from '${target}';`,
      `const b = await import('${target}');`,
      `type B = import('${target}').B;`,
    ]) {
      expect(forbiddenImports(sourceOf(file, text)), text).toHaveLength(1);
    }
  });

  it.each([
    ['modules/jobs/a.ts', './b.ts'],
    ['modules/jobs/a.ts', '../module.ts'],
    ['modules/jobs/a.ts', '../../access/b.ts'],
    ['app/a.ts', '../modules/jobs/b.ts'],
    ['storage/sqlite/a.ts', '../open.ts'],
    ['cli/a.ts', '../app/b.ts'],
    ['main.ts', './cli/b.ts'],
  ])('nothing where %s imports %s', (file, target) => {
    expect(forbiddenImports(sourceOf(file, `import { b } from '${target}';`))).toEqual([]);
  });

  it('a circle of three, also of types and of lazy imports', () => {
    const found = circles(
      made({
        'base/a.ts': "import type { B } from './b.ts';",
        'base/b.ts': "export const load = () => import('./c.ts');",
        'base/c.ts': "type A = import('./a.ts').A;",
        'base/d.ts': "import { a } from './a.ts';",
      }),
    );
    expect(found).toEqual(['base/a.ts -> base/b.ts -> base/c.ts -> base/a.ts']);
  });

  it.each(["export * from './b.ts';", "export { b } from './b.ts';", "export type { B } from './b.ts';"])(
    'a barrel: %s',
    (text) => {
      expect(barrels(made({ 'base/a.ts': text, 'index.ts': text, 'base/b.ts': 'export { b };' }))).toEqual([
        'base/a.ts',
      ]);
    },
  );

  it('a default export', () => {
    expect(defaultExports(made({ 'base/a.ts': 'export default 1;', 'base/b.ts': 'export const a = 1;' }))).toEqual([
      'base/a.ts',
    ]);
  });

  it.each([
    'Date.now();',
    'new Date();',
    'Math.random();',
    'setTimeout(run, 1);',
    "fetch('/');",
    "new Request('/');",
    'process.env;',
    'performance.now();',
    "import { readFileSync } from 'node:fs';",
    "import { hash, randomBytes } from 'node:crypto';",
    "import { domainToUnicode, pathToFileURL } from 'node:url';",
  ])('what is not pure: %s', (text) => {
    expect(impurities(sourceOf('base/a.ts', text))).toHaveLength(1);
    expect(impurities(sourceOf('base/a.ts', `/* ${text} */ // ${text}`))).toEqual([]);
  });

  it.each(["import { hash } from 'node:crypto';", 'new Date(0);', "import { gunzipSync } from 'node:zlib';"])(
    'nothing that follows from its input: %s',
    (text) => {
      expect(impurities(sourceOf('base/a.ts', text))).toEqual([]);
    },
  );

  it.each([
    ['function f() {', '}', 'f'],
    ['const f = () => {', '};', 'f'],
    ['const o = { f() {', '} };', 'f'],
    ['class C { f() {', '} }', 'C.f'],
    ['class C { #f = () => {', '}; }', '#f'],
    ['go(async () => {', '});', '(anonymous)'],
    ['function f(): string { return `}`; // }\n', '}', 'f'],
  ])('a function of more than the limit: %s', (head, tail, name) => {
    const inside = FUNCTION_LINES_MAX - 2 - (head.endsWith('\n') ? 1 : 0);
    const text = (count: number): string => `${head.trimEnd()}\n${lines(count)}${tail}\n`;
    const found = (count: number): string[] => [...longFunctions([sourceOf('base/a.ts', text(count))]).keys()];
    expect(found(head.endsWith('\n') ? inside + 1 : inside)).toEqual([]);
    expect(found((head.endsWith('\n') ? inside + 1 : inside) + 1)).toEqual([`base/a.ts#${name}`]);
  });

  it('a file of more than the limit', () => {
    expect([...longFiles(made({ 'a.ts': lines(FILE_LINES_MAX) })).keys()]).toEqual([]);
    expect([...longFiles(made({ 'a.ts': lines(FILE_LINES_MAX + 1) })).keys()]).toEqual(['a.ts']);
  });

  it('a banned word in a comment, over a line break too, and in no code', () => {
    const text = `/**
 * Taken anew by whoever asks; who asks is
 * told so. Until nobody is left.
 */
const till = 'nobody'; // somebody's shelf`;
    expect([...bannedWordCounts(made({ 'base/a.ts': text, 'http/a.ts': 'const anew = 1; // until' }))]).toEqual([
      ['base', 6],
    ]);
  });

  it('a test of no suffix that reaches a socket, through what it imports', () => {
    const server = "import { spawn } from 'node:child_process';";
    const found = unnamedProcessTests(
      made({
        'support/server.ts': server,
        'support/shop.ts': "import { start } from './server.ts';",
        'a.test.ts': "import { shop } from './support/shop.ts';",
        'a.process.test.ts': "import { shop } from './support/shop.ts';",
        'b.slow.test.ts': server,
        'c.property.test.ts': server,
        'd.test.ts': "import { readFileSync } from 'node:fs';",
      }),
    );
    expect(found).toEqual(['a.test.ts', 'c.property.test.ts']);
  });

  it.each([
    "it.skip('buys', () => {});",
    "it.skipIf(true)('buys', () => {});",
    "it.concurrent.runIf(false)('buys', () => {});",
    "it.todo('buys');",
    "it('buys', ({ skip }) => skip());",
    "it('buys', { skip: true }, () => {});",
  ])('a contract of which a test is left out: %s', (text) => {
    const files = { 'contract/a.test.ts': text, 'contract/b.test.ts': `/* ${text} */`, 'app/c.test.ts': text };
    expect(incompleteContracts(made(files))).toEqual(['contract/a.test.ts']);
  });
});
