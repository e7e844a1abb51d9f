/**
 * The documents, kept true: every citation in comments and test titles resolves to a section, a row or an item of `docs/spec`;
 * links, paths and scripts that documents name exist; prose keeps its measure.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const textOf = (path: string): string => readFileSync(join(PROJECT, path), 'utf8');

const filesIn = (folder: string, endings: RegExp): readonly string[] =>
  readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/${file.replaceAll('\\', '/')}`)
    .filter((file) => endings.test(file) && !file.includes('/node_modules/'))
    .sort();

// --- The specification, as citations see it.

interface Section {
  /** `4.9` of `## 4.9 Error codes`, or `E` of `## E. Crashes`, else ''. */
  readonly number: string;
  /** Heading without its number and back quotes, in lower case. */
  readonly title: string;
  readonly text: string;
}

interface SpecDocument {
  readonly name: string;
  readonly text: string;
  readonly sections: readonly Section[];
}

const HEADING = /^(#{1,6}) (?:(\d+(?:\.\d+)*|[A-N])\.? )?(.*)$/;

/** Each heading with all that stands below it, up to the next heading of its level or a higher one. */
function sectionsOf(text: string): readonly Section[] {
  const lines = text.split('\n');
  const levelOf = (line: string | undefined): number => HEADING.exec(line ?? '')?.[1]?.length ?? 0;
  return lines.flatMap((line, start) => {
    const heading = HEADING.exec(line);
    if (heading === null) return [];
    const level = levelOf(line);
    const length = lines.slice(start + 1).findIndex((other) => levelOf(other) > 0 && levelOf(other) <= level);
    const end = length < 0 ? lines.length : start + 1 + length;
    const title = (heading[3] as string).replaceAll('`', '').toLowerCase();
    return [{ number: heading[2] ?? '', title, text: lines.slice(start, end).join('\n') }];
  });
}

function documentOf(name: string): SpecDocument {
  const text = textOf(`docs/spec/${name}.md`);
  return { name, text, sections: sectionsOf(text) };
}

const DECISIONS = documentOf('decisions');
const JOBS = documentOf('jobs-intelligence');
const RELIABILITY = documentOf('reliability');

/** How comments name a document. */
const DOCUMENTS: ReadonlyMap<string, SpecDocument> = new Map([
  ['decisions', DECISIONS],
  ['jobs-intelligence', JOBS],
  ['specification', JOBS],
  ['callback.md', documentOf('callback')],
  ['siblings', documentOf('siblings')],
  ['x402-v2', documentOf('x402-v2')],
  ['reliability', RELIABILITY],
]);

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const hasRow = (text: string, first: string): boolean =>
  new RegExp(`^\\| \`?${escaped(first)}\`? \\|`, 'im').test(text);
const hasItem = (text: string, number: string): boolean =>
  new RegExp(`^${number}\\. `, 'm').test(text) || hasRow(text, number);

// --- Citations.

/** Comments as running text: what marks a comment and the line breaks in it are gone, and so are the cases of switches. */
const runningText = (source: string): string =>
  source
    .replace(/^\s*case \d+:/gm, ' ')
    .replace(/^\s*(?:\/\*\*?|\*\/|\*(?!\/)|\/\/+) ?/gm, ' ')
    .replace(/\s+/g, ' ');

/** A place in a text that moves on over what matches. */
class Scanner {
  readonly text: string;
  at: number;

  constructor(text: string, at: number) {
    this.text = text;
    this.at = at;
  }

  take(pattern: RegExp): RegExpExecArray | undefined {
    const found = new RegExp(pattern.source, 'y');
    found.lastIndex = this.at;
    const match = found.exec(this.text);
    if (match === null) return undefined;
    this.at = found.lastIndex;
    return match;
  }
}

interface Faults {
  readonly add: (fault: string) => void;
}

/** The section that a heading's words or a table's first column names. */
function namedScope(scope: string, sections: readonly Section[], name: string): string | undefined {
  const words = name.replaceAll('`', '').toLowerCase();
  const whole = new RegExp(`(?<![\\w-])${escaped(words)}(?![\\w-])`);
  const candidates = sections.filter(({ text }) => scope.includes(text));
  const found = candidates.find(({ title }) => title === words) ?? candidates.find(({ title }) => whole.test(title));
  if (found !== undefined) return found.text;
  return hasRow(scope, name) ? scope : undefined;
}

function numbersOf(first: string, last: string | undefined): readonly string[] {
  if (last === undefined) return [first];
  const length = Number(last) - Number(first) + 1;
  return Array.from({ length: Math.max(length, 0) }, (_, i) => String(Number(first) + i));
}

/** Rows of the reliability catalogue: cases, findings, invariants, lettered sections. */
function resolveReliability(scanner: Scanner, kindBefore: string, faults: Faults): void {
  let kind = kindBefore;
  for (;;) {
    scanner.take(/(?:,|;)? ?(?:and |or )?(?:of )?/);
    kind = scanner.take(/(case|section|finding|invariant)s? /)?.[1] ?? kind;
    const letter = scanner.take(/([A-N])\b(?!\d)/)?.[1];
    const number = letter === undefined ? scanner.take(/(I?)(\d{1,3})\b(?!%)(?: to I?(\d{1,3})\b)?/) : undefined;
    if (letter === undefined && number === undefined) return;
    if (letter !== undefined) {
      if (!RELIABILITY.sections.some((section) => section.number === letter)) faults.add(`reliability ${letter}`);
      continue;
    }
    const [, mark, first, last] = number as RegExpExecArray;
    const prefix = mark === 'I' || kind === 'invariant' ? 'I' : kind === 'finding' ? 'finding ' : '';
    for (const one of numbersOf(first as string, last)) {
      if (!hasRow(RELIABILITY.text, prefix + one)) faults.add(`reliability ${prefix}${one}`);
    }
  }
}

/** `§4.9 and §5.5`, `§3 "Signals"`, `"Events" 4`, `§2, `PAY_TO``: each part has to be there. */
function resolveSections(scanner: Scanner, document: SpecDocument, faults: Faults): void {
  const { text } = scanner;
  let scope = document.text;
  let isInside = false;
  const cite = (part: string): void => faults.add(`${document.name} ${part}`);
  for (;;) {
    const before = scanner.at;
    scanner.take(/[,:]? ?(?:and |or |to )?/);
    const section = scanner.take(/§(\d+(?:\.\d+)*)/)?.[1];
    if (section !== undefined) {
      const found = document.sections.find(({ number }) => number === section);
      if (found === undefined) cite(`§${section}`);
      scope = found?.text ?? scope;
      isInside = true;
      continue;
    }
    const name = scanner.take(/"([^"]{2,60})"/)?.[1];
    if (name !== undefined) {
      const found = namedScope(scope, document.sections, name) ?? namedScope(document.text, document.sections, name);
      if (found === undefined) cite(`"${name}"`);
      scope = found ?? scope;
      isInside = true;
      continue;
    }
    const isAppended = !/(?:and|or|to) $/.test(text.slice(before, scanner.at));
    const token = isAppended ? scanner.take(/`([^`]{2,60})`|([A-Z]{2,}(?:_[A-Z]+)+)\b/) : undefined;
    if (token !== undefined) {
      const word = (token[1] ?? token[2]) as string;
      if (!document.text.includes(word)) cite(word);
      continue;
    }
    const row = scanner.take(/(?:row )?(\d{1,3})\b(?![.%:])/)?.[1];
    if (row !== undefined) {
      if (!isInside && document === DECISIONS) cite(`${row} (a section is cited as §${row})`);
      else if (!hasItem(scope, row)) cite(`"…" ${row}`);
      continue;
    }
    scanner.at = before;
    return;
  }
}

const NAMES =
  /\b(decisions|reliability|callback\.md|jobs-intelligence|specification|siblings|x402-v2|performance|building-blocks)(?:\.md)?(?: catalogue)?\b(?:,? (?=section|case|finding|invariant))?/gi;
/** Cases and invariants that are named without their document. */
const BARE = /\b(case|invariant)s? (?=I?\d)/gi;
/** Sections of documents that are not ours. */
const OUTSIDE = /(?:RFC \d+|HTML|\.html|WHATWG URL|EIP-\d+|ERC-\d+) $/;

/** What `source` cites and `docs/spec` does not have. */
function unresolved(source: string): readonly string[] {
  const text = runningText(source);
  const found: string[] = [];
  const spans: { from: number; to: number; document: SpecDocument | undefined }[] = [];
  const faults: Faults = { add: (fault) => found.push(fault) };
  for (const match of text.matchAll(NAMES)) {
    const name = (match[1] as string).toLowerCase();
    const scanner = new Scanner(text, match.index + match[0].length);
    scanner.take(/`/); // the end of a name in back quotes
    const document = DOCUMENTS.get(name);
    if (document === RELIABILITY) resolveReliability(scanner, 'case', faults);
    else if (document !== undefined) resolveSections(scanner, document, faults);
    else if (match[0].includes('.md')) faults.add(`${name}.md`);
    spans.push({ from: match.index, to: scanner.at, document });
  }
  const isCited = (at: number): boolean => spans.some(({ from, to }) => from <= at && at < to);
  for (const match of text.matchAll(BARE)) {
    if (isCited(match.index)) continue;
    resolveReliability(new Scanner(text, match.index + match[0].length), (match[1] as string).toLowerCase(), faults);
  }
  for (const match of text.matchAll(/§(?=\d)/g)) {
    if (isCited(match.index) || OUTSIDE.test(text.slice(0, match.index))) continue;
    // "(x402-v2 §2.8) and the receipt (§2.6)": the document that was named last.
    const last = spans.findLast(({ to }) => to <= match.index && match.index - to < 400);
    if (last?.document === undefined) faults.add(text.slice(match.index - 20, match.index + 6));
    else resolveSections(new Scanner(text, match.index), last.document, faults);
  }
  return found;
}

describe('citations', () => {
  it.each([
    ['/** As decided (decisions §4; reliability 126, 127). */'],
    ['/** The five checks (callback.md, "Authentication" 4), in order. */'],
    ['// x402-v2 §4.4 row 7'],
    ["it('waits (invariant 10, reliability 194 to 196)')"],
    ['/** The order (decisions §3,\n * "Order, cohort, matching"). */'],
    ['/** The body (x402-v2 §2.8) and the receipt (§2.6). */'],
    ['/** RFC 9110 §5.5. */'],
    ['switch (n) {\n  case 999:\n}'],
    ['// reliability E; reliability, finding 9; reliability, section H; I1 to I11'],
    ['// decisions §2, `PAY_TO`; decisions §2 STATE_DIR'],
    ['`docs/spec/callback.md` is the contract, `DELETE` included'],
    ['// jobs-intelligence "Limits"; specification, "Signal entry"; jobs-intelligence, "Common rules" 2 and 3'],
  ])('%j resolves', (source) => {
    expect(unresolved(source)).toEqual([]);
  });

  it.each([
    ['/** decisions §9 */', 'decisions §9'],
    ['// decisions 4', 'decisions 4 (a section is cited as §4)'],
    ['/** (decisions §3, "Cohorts of\n * another kind") */', 'decisions "Cohorts of another kind"'],
    ["it('is refused (reliability 126, 292)')", 'reliability 292'],
    ["it('is refused (cases 290 to 292)')", 'reliability 292'],
    ['// reliability, finding 13', 'reliability finding 13'],
    ['// invariant 21', 'reliability I21'],
    ['// callback.md, "Authentication" 6', 'callback "…" 6'],
    ['// x402-v2 §6.3, §6.9', 'x402-v2 §6.9'],
    ['// x402-v2 §6.3 and its end (§6.9)', 'x402-v2 §6.9'],
    ['// decisions §2, `PAY_FROM`', 'decisions PAY_FROM'],
    ['// performance.md, section 5', 'performance.md'],
  ])('%j does not resolve', (source, fault) => {
    expect(unresolved(source)).toContain(fault);
  });

  const FOLDERS = ['src', 'test', 'bench', 'tools', 'pages'];
  const sourcesOf = (folder: string): readonly string[] =>
    filesIn(folder, /\.(ts|js|css)$/).filter((file) => file !== 'test/docs.test.ts');

  it('are found', () => {
    const citing = FOLDERS.flatMap(sourcesOf).filter((file) =>
      /decisions §|reliability \d|callback\.md/.test(textOf(file)),
    );
    expect(citing.length).toBeGreaterThan(50);
  });

  it.each(FOLDERS)('of %s resolve', (folder) => {
    const faults = sourcesOf(folder).map((file) => ({ file, unresolved: unresolved(textOf(file)) }));
    expect(faults.filter((one) => one.unresolved.length > 0)).toEqual([]);
  });
});

// --- Documents for readers.

const PAGES = ['README.md', 'CONTRIBUTING.md', ...filesIn('docs', /\.md$/)];
const PROSE_COLUMNS = 100;
const README_LINES_MAX = 180;

/** Lines outside of code blocks, with their numbers from 1. */
function linesOf(page: string): readonly { number: number; line: string }[] {
  let isCode = false;
  return textOf(page)
    .split('\n')
    .map((line, i) => ({ number: i + 1, line }))
    .filter(({ line }) => {
      if (line.startsWith('```')) isCode = !isCode;
      return !isCode && !line.startsWith('```');
    });
}

/** As the usual renderers make the anchor of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');

const anchorsOf = (page: string): readonly string[] =>
  linesOf(page).flatMap(({ line }) => {
    const heading = /^#{1,6} (.*)$/.exec(line)?.[1];
    return heading === undefined ? [] : [anchorOf(heading)];
  });

function brokenLinks(page: string): readonly string[] {
  const links = linesOf(page).flatMap(({ line }) =>
    [...line.matchAll(/\]\(([^)\s]+)\)/g)].map(([, to]) => to as string),
  );
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : join(dirname(page), path);
    if (!existsSync(resolve(PROJECT, target))) return true;
    return anchor !== undefined && !anchorsOf(target).includes(anchor);
  });
}

const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Readonly<Record<string, string>> };

const missingScripts = (page: string): readonly string[] =>
  [...textOf(page).matchAll(/\bnpm run (?:-s )?([a-z][\w:-]*)/g)]
    .map(([, script]) => script as string)
    .filter((script) => scripts[script] === undefined);

/** Paths of this project in back quotes; those with a place to fill in are patterns and pass. */
const missingPaths = (page: string): readonly string[] =>
  linesOf(page)
    .flatMap(({ line }) => [...line.matchAll(/`((?:src|test|bench|tools|pages|data|deploy|docs)\/[^`\s]*)`/g)])
    .map(([, path]) => path as string)
    .filter((path) => !/[<>*{}…]/.test(path) && !path.startsWith('bench/results') && !existsSync(join(PROJECT, path)));

describe.each(PAGES)('%s', (page) => {
  it('links to what exists', () => {
    expect(brokenLinks(page)).toEqual([]);
  });

  it('names scripts and paths that exist', () => {
    expect({ scripts: missingScripts(page), paths: missingPaths(page) }).toEqual({ scripts: [], paths: [] });
  });

  it('cites what docs/spec has', () => {
    expect(unresolved(textOf(page))).toEqual([]);
  });

  it('has no place left to fill in', () => {
    expect(textOf(page)).not.toMatch(/@@|\b(TODO|TBD|FIXME|XXX|lorem ipsum)\b/i);
  });

  // docs/configuration.md is written by a tool, line by line from the declarations of the settings.
  it.skipIf(page === 'docs/configuration.md')(`keeps its prose under ${PROSE_COLUMNS} columns`, () => {
    const long = linesOf(page).filter(({ line }) => line.length >= PROSE_COLUMNS && !/^\s*\|/.test(line));
    expect(long.map(({ number }) => `line ${number}`)).toEqual([]);
  });
});

describe('the documents', () => {
  it(`begin with a README of at most ${README_LINES_MAX} lines`, () => {
    expect(textOf('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(README_LINES_MAX);
  });

  it('are all in the index', () => {
    const index = textOf('docs/README.md');
    const indexed = filesIn('docs', /\.md$/)
      .map((file) => file.slice('docs/'.length))
      .filter((file) => !file.includes('/') && file !== 'README.md');
    expect(indexed.filter((file) => !index.includes(`](${file})`))).toEqual([]);
  });

  it('count the lines of the script that follows the feed', () => {
    const [, script = ''] = /```js\n(.*?)```/s.exec(textOf('docs/data-api.md')) ?? [];
    expect(textOf('README.md')).toMatch(new RegExp(`\\b${script.trimEnd().split('\n').length} lines of\\s+script`));
  });

  it('quote what is said of a damaged catalogue', () => {
    const [, quotes = ''] = /one line at start \((.*?)\), or after SIGHUP/s.exec(textOf('docs/runbook.md')) ?? [];
    const reader = filesIn('src/catalogue/snapshot', /\.ts$/).map(textOf).join('');
    const words = [...quotes.matchAll(/`(?:SNAPSHOT jobs\.snapshot: )?([^`]+)`/g)].map(([, quote]) => quote as string);
    expect(words.length).toBe(3);
    expect(words.filter((quote) => !reader.includes(quote))).toEqual([]);
  });

  it('come with the licence that package.json names', () => {
    expect(textOf('LICENSE')).toContain('Apache License');
    expect(JSON.parse(textOf('package.json'))).toMatchObject({ license: 'Apache-2.0' });
  });
});
