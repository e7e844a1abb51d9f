/**
 * The rules of the house. Each takes sources and says what is wrong with them, one line each, so that a test can give it
 * made-up sources and see it fail.
 */
import type { Source } from './source.ts';

/**
 * Area -> areas that it may import from besides itself. An area is a folder of `src`, a folder of `src/modules`, or a file
 * that stands in `src` itself.
 */
const DOMAINS = ['catalogue', 'payment', 'callback', 'accounts', 'outbound', 'retry', 'resolve'] as const;
const MODULE = ['base', 'http', 'access', 'config', ...DOMAINS, 'modules'] as const;
const EVERYTHING = [
  'base',
  ...DOMAINS,
  'ingest',
  'http',
  'config',
  'access',
  'modules',
  'modules/*',
  'storage',
  'adapters',
  'load',
  'app',
] as const;

export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  catalogue: ['base'],
  payment: ['base'],
  callback: ['base'],
  accounts: ['base'],
  outbound: ['base'],
  retry: ['base', 'outbound'],
  resolve: ['base', 'outbound'],
  ingest: ['base', 'catalogue'],
  http: ['base'],
  config: ['base', 'payment', 'outbound'],
  access: ['base', 'http', 'payment', 'callback', 'accounts', 'retry', 'resolve'],
  modules: MODULE,
  'modules/*': MODULE,
  storage: ['base', ...DOMAINS, 'ingest'],
  adapters: ['base', 'http', ...DOMAINS, 'ingest'],
  load: ['base', 'payment', 'callback'],
  app: EVERYTHING.filter((area) => area !== 'app'),
  cli: EVERYTHING,
  'index.ts': EVERYTHING,
  'main.ts': [...EVERYTHING, 'cli'],
};

/** Folders that read no ambient clock or randomness and know no network, timers or files. */
export const PURE: readonly string[] = ['base', ...DOMAINS];

/** `modules/jobs`, `payment`, or the name of a file of the root. */
export function areaOf(file: string): string {
  const [first = '', second = '', third] = file.split('/');
  return first === 'modules' && third !== undefined ? `modules/${second}` : first;
}

const kindOf = (area: string): string => (area.startsWith('modules/') ? 'modules/*' : area);

export const unknownFolders = (sources: readonly Source[]): string[] =>
  sources.filter(({ file }) => MAY_IMPORT[kindOf(areaOf(file))] === undefined).map(({ file }) => file);

/** Imports across a wall, as `file -> target`. */
export function forbiddenImports({ file, imports }: Source): string[] {
  const area = areaOf(file);
  const allowed = MAY_IMPORT[kindOf(area)] ?? [];
  const isAllowed = (target: string): boolean => {
    const other = areaOf(target);
    if (other === area) return true;
    // A module imports no other module; a joining folder may see them all.
    return allowed.includes(kindOf(other));
  };
  return imports.filter((target) => !isAllowed(target)).map((target) => `${file} -> ${target}`);
}

/** Import circles, types among them, each as the chain of its files. */
export function circles(sources: readonly Source[]): string[] {
  const byFile = new Map(sources.map((source) => [source.file, source]));
  const state = new Map<string, 'open' | 'done'>();
  const found: string[] = [];
  const visit = (file: string, path: readonly string[]): void => {
    if (state.get(file) === 'done') return;
    if (state.get(file) === 'open') {
      found.push([...path.slice(path.indexOf(file)), file].join(' -> '));
      return;
    }
    state.set(file, 'open');
    for (const target of byFile.get(file)?.imports ?? []) visit(target, [...path, file]);
    state.set(file, 'done');
  };
  for (const { file } of sources) visit(file, []);
  return found;
}

/** Files that pass on what others export; the entry of the package is one by its nature. */
export const barrels = (sources: readonly Source[]): string[] =>
  sources.filter(({ file, hasReexports }) => hasReexports && file !== 'index.ts').map(({ file }) => file);

export const defaultExports = (sources: readonly Source[]): string[] =>
  sources.filter(({ hasDefaultExport }) => hasDefaultExport).map(({ file }) => file);

const IMPURE: readonly RegExp[] = [
  /\bDate\.now\(/,
  /\bnew Date\(\)/,
  /\bMath\.random\(/,
  /\bset(?:Timeout|Interval|Immediate)\(/,
  /\bfetch\(/,
  /\bnew (?:Request|Response)\(/,
  /\bprocess\./,
  /\bperformance\./,
  /\bcrypto\.(?:getRandomValues|randomUUID)\(/,
];

/** Built-in modules that compute from their input alone. */
const PURE_MODULES: ReadonlySet<string> = new Set(['node:zlib', 'node:buffer']);
/** Of other modules the functions that do. */
const PURE_FUNCTIONS: Readonly<Record<string, readonly string[]>> = {
  'node:crypto': [
    'hash',
    'createHash',
    'createHmac',
    'hkdfSync',
    'createCipheriv',
    'createDecipheriv',
    'timingSafeEqual',
  ],
  'node:url': ['domainToUnicode'],
};

/** What a file does or imports that depends on more than its input. */
export function impurities({ code, packages }: Source): string[] {
  const wrong = IMPURE.filter((pattern) => pattern.test(code)).map(String);
  for (const { name, names } of packages) {
    if (!name.startsWith('node:') || PURE_MODULES.has(name)) continue;
    const pure = PURE_FUNCTIONS[name];
    if (pure !== undefined && names.every((one) => pure.includes(one))) continue;
    wrong.push(`imports ${name}`);
  }
  return wrong;
}

export const FUNCTION_LINES_MAX = 80;
export const FILE_LINES_MAX = 400;

/** Functions above the limit, as `file#name`, with their lines. */
export const longFunctions = (sources: readonly Source[]): ReadonlyMap<string, number> =>
  new Map(
    sources.flatMap(({ file, functions }) =>
      functions
        .filter(({ lineCount }) => lineCount > FUNCTION_LINES_MAX)
        .map(({ name, lineCount }) => [`${file}#${name}`, lineCount] as const),
    ),
  );

export const longFiles = (sources: readonly Source[]): ReadonlyMap<string, number> =>
  new Map(
    sources.filter(({ lineCount }) => lineCount > FILE_LINES_MAX).map(({ file, lineCount }) => [file, lineCount]),
  );

/** Words that do not say who does what; the glossary has the field's for each. */
const BANNED_WORDS =
  /\b(?:anew|whoever|nobody|somebody|till|shelf|shelves|looked into|(?:is|are|was|were|be|been) told)\b/gi;

/** Banned words in the comments of each top-level folder. */
export function bannedWordCounts(sources: readonly Source[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { file, comments } of sources) {
    const [folder = ''] = file.split('/');
    const count = comments.reduce((sum, comment) => sum + (comment.match(BANNED_WORDS)?.length ?? 0), 0);
    if (count > 0) counts.set(folder, (counts.get(folder) ?? 0) + count);
  }
  return counts;
}

/** What starts processes or opens sockets: a test file that reaches one of these says so in its name. */
const OUTSIDE: ReadonlySet<string> = new Set([
  'node:child_process',
  'node:net',
  'node:http',
  'node:https',
  'node:http2',
  'node:cluster',
  'playwright-core',
]);
const SAYS_SO = /\.(?:process|slow|long)\.test\.ts$/;

/** Test files without a suffix that reach for processes or sockets through what they import of the tests' own files. */
export function unnamedProcessTests(sources: readonly Source[]): string[] {
  const byFile = new Map(sources.map((source) => [source.file, source]));
  const reaches = (file: string, seen: Set<string>): boolean => {
    const source = byFile.get(file);
    if (source === undefined || seen.has(file)) return false;
    seen.add(file);
    if (source.packages.some(({ name }) => OUTSIDE.has(name))) return true;
    return source.imports.some((target) => reaches(target, seen));
  };
  return sources
    .map(({ file }) => file)
    .filter((file) => file.endsWith('.test.ts') && !SAYS_SO.test(file) && reaches(file, new Set()));
}

/** How Vitest leaves a test out; what an option or the context of a test is called, too. */
const LEFT_OUT = /\b(?:skip|skipIf|runIf|todo)\b/;

/** Files of the contract suite that may leave tests out: where the suite runs once more, every test must have passed. */
export const incompleteContracts = (sources: readonly Source[]): string[] =>
  sources.filter(({ file, code }) => file.startsWith('contract/') && LEFT_OUT.test(code)).map(({ file }) => file);
