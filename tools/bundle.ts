/**
 * Bundles the program, with its packages, into few minified files: a start takes a third of the time that separate
 * modules take (bench/start.ts). Packages with binaries and optional ones stay outside; the licences of the others are
 * beside the files, as is the one WebAssembly module. Source maps lead from a stack trace back to `src`. Every file is
 * directly in the build folder; each thread's program is a separate file.
 */
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type CodeSplittingOptions, type OutputOptions, type Plugin, rolldown } from 'rolldown';

const PROGRAM = {
  main: 'src/main.ts',
  index: 'src/index.ts',
  'listen-bun': 'src/adapters/listen/bun/listen-bun.ts',
};

/** Files by the modules they start with, in the order in which a start loads them. A module is in the first that needs it. */
const SERVER_FILES = { commands: ['src/main.ts', 'src/cli/program.ts'], server: ['src/cli/serve.ts'] };

const NOTICES = 'THIRD-PARTY-NOTICES.txt';

const THREADS = [
  'src/adapters/extraction/extraction-worker.ts',
  'src/adapters/files/catalogue-worker.ts',
  'src/adapters/verification/recovery-worker.ts',
  'src/load/signer.ts',
  'src/storage/sqlite/reader.ts',
  'src/storage/sqlite/writer.ts',
];

/** A library that the sources contain in compiled form, by `npm run libsecp256k1`. */
const LIBSECP256K1 = {
  name: 'libsecp256k1 0.5.0',
  module: 'src/adapters/verification/libsecp256k1.wasm',
  licence: 'src/adapters/verification/libsecp256k1.wasm.LICENSE',
};

/** Dev dependencies that are bundled, with their imports; other packages stay where npm installs them. */
const BUNDLED =
  /^(?:@noble\/(?:curves|hashes)|@valibot\/to-json-schema|hash-wasm|htmlparser2|hyparquet|lru-cache|tldts|valibot)(?:\/|$)/;

/** ECMAScript entries, of which only the used exports are bundled. */
const ES_MODULES = { 'hash-wasm': 'hash-wasm/dist/index.esm.js' };

/** Whether an import stays an import: of the runtime, or of a package that is not bundled. */
const isOutside = (id: string, from: string | undefined): boolean =>
  !/^[./]/.test(id) && (id.startsWith('node:') || (!BUNDLED.test(id) && !from?.includes('/node_modules/')));

/** A module by its address, such as `new URL('./bun/listen-bun.ts', import.meta.url)`. */
const MODULE_ADDRESS = /new URL\('\.\/(?:[\w-]+\/)*([\w-]+)\.ts', import\.meta\.url\)/g;

/** Files built separately, for the addresses in the sources: each is an entry, or the build fails. */
const addressed: ReadonlySet<string> = new Set([
  ...Object.keys(PROGRAM),
  ...THREADS.map((path) => basename(path, '.ts')),
]);

const addresses: Plugin = {
  name: 'addresses of modules',
  transform(code, id) {
    if (!MODULE_ADDRESS.test(code)) return null;
    const replaced = code.replace(MODULE_ADDRESS, (_whole, name: string) => {
      if (!addressed.has(name)) this.error(`${id} names ${name}.ts by its address, which is no entry of the build`);
      return `new URL('./${name}.js', import.meta.url)`;
    });
    return { code: replaced, map: null }; // every line stays where it was
  },
};

/** Runtime modules that a server does not need at its start (bench/start.ts). */
const LATE_MODULES: readonly string[] = [
  'node:crypto',
  'node:fs/promises',
  'node:timers/promises',
  'node:worker_threads',
  'node:zlib',
];

/**
 * Modules that a start needs. Importing one costs Node more than its code: it reads every export, and some exports load
 * other modules.
 */
const EARLY_MODULES: readonly string[] = ['node:fs', 'node:util'];

const isReplaced = (id: string): boolean => LATE_MODULES.includes(id) || EARLY_MODULES.includes(id);

const RUNTIME_MODULE = '\0runtime:';

/** Whether a stand-in can replace an export: the export is a function or class without members of its own. */
const isOnlyCalled = (value: unknown): boolean =>
  typeof value === 'function' &&
  Reflect.ownKeys(value).every((key) => ['length', 'name', 'prototype', 'arguments', 'caller'].includes(String(key)));

/**
 * Loads the module at the first call of one of its functions, then replaces them by the real ones, so that later calls
 * cost nothing.
 */
const lateExport = (module: string, name: string): string => `export let ${name} = function (...words) {
  ${name} = ${module}.${name};
  return new.target === undefined ? ${name}(...words) : new ${name}(...words);
};`;

const earlyExport = (module: string, name: string): string =>
  `export const ${name} = /* @__PURE__ */ (() => ${module}.${name})();`;

const IMPORT_OF_RUNTIME = /import \{([^}]*)\} from ['"](node:[^'"]+)['"]/g;

/**
 * Loads runtime modules by `process.getBuiltinModule`; the sources import them normally. The build fails for an import from a
 * late module that cannot wait for a call: an export that is no function, or a class that its file extends or compares with.
 */
const runtimeModules: Plugin = {
  name: 'modules of the runtime',
  transform(code, id) {
    for (const [, names = '', module = ''] of code.matchAll(IMPORT_OF_RUNTIME)) {
      if (!LATE_MODULES.includes(module)) continue;
      const asClass = new RegExp(`\\b(?:extends|instanceof) (?:${names.match(/\w+/g)?.join('|')})\\b`).exec(code);
      if (asClass !== null) this.error(`${id} has "${asClass[0]}", of ${module}, which loads at its first call`);
    }
    return null;
  },
  resolveId: (id) => (isReplaced(id) ? RUNTIME_MODULE + id : null),
  load(id) {
    if (!id.startsWith(RUNTIME_MODULE)) return null;
    const name = id.slice(RUNTIME_MODULE.length);
    const isLate = LATE_MODULES.includes(name);
    const module = process.getBuiltinModule(name) as Readonly<Record<string, unknown>>;
    const kept = Object.keys(module).filter((key) => key !== 'default' && (!isLate || isOnlyCalled(module[key])));
    return kept
      .map((key) => (isLate ? lateExport : earlyExport)(`process.getBuiltinModule('${name}')`, key))
      .join('\n');
  },
};

/** The modules and everything that they need before they run, recursively. */
function closureOf(entries: readonly string[], importsOf: (id: string) => readonly string[]): ReadonlySet<string> {
  const closure = new Set(entries);
  for (const id of closure) for (const imported of importsOf(id)) closure.add(imported);
  return closure;
}

/**
 * `serve` loads two files before it listens: finding, reading and linking sixty modules takes longer than running them.
 * The smaller file suffices for help. The process entry awaits both, so it is in neither.
 */
function serverFiles(project: string): CodeSplittingOptions {
  const entry = join(project, PROGRAM.main);
  const closures = new Map<string, ReadonlySet<string>>();
  return {
    groups: [
      {
        debugName: 'files of the server',
        name(id, context) {
          if (id === entry) return null;
          for (const [name, paths] of Object.entries(SERVER_FILES)) {
            const entries = paths.map((path) => join(project, path));
            const closure =
              closures.get(name) ?? closureOf(entries, (from) => context.getModuleInfo(from)?.importedIds ?? []);
            closures.set(name, closure);
            if (closure.has(id)) return name;
          }
          return null;
        },
      },
    ],
  };
}

/** The folder of the package that holds a module; undefined for a module of ours. */
const packageOf = (id: string): string | undefined => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0];

const notice = (name: string, licence: string): string => `${name}\n\n${readFileSync(licence, 'utf8').trim()}\n`;

/** Name, version and licence of all bundled packages. @throws Error for a package without a licence */
function noticesOf(project: string, folders: ReadonlySet<string>): string {
  const notices = [...folders].map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, string>;
    const licence = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
    if (licence === undefined) throw new Error(`${name} is bundled, and has no licence`);
    return notice(`${name} ${version}`, join(folder, licence));
  });
  notices.push(notice(LIBSECP256K1.name, join(project, LIBSECP256K1.licence)));
  return notices.sort().join(`\n${'-'.repeat(80)}\n\n`);
}

/** @param project folder of the sources, with the packages @param into folder for the files; its other contents stay */
export async function bundle(project: string, into: string): Promise<void> {
  const packages = new Set<string>();
  const write = async (input: Record<string, string>, plugins: Plugin[], options: OutputOptions): Promise<void> => {
    const made = await rolldown({
      cwd: project,
      input,
      platform: 'node',
      external: (id, from) => isOutside(id, from) && !(plugins.includes(runtimeModules) && isReplaced(id)),
      plugins,
      transform: { target: 'es2024' },
      resolve: { alias: ES_MODULES },
      tsconfig: false,
      onLog(level, log, show) {
        // Such as an import that a late module does not export, because it is no function.
        if (level === 'warn') throw new Error(log.message);
        show(level, log);
      },
    });
    const { output } = await made.write({
      dir: into,
      format: 'esm',
      sourcemap: true,
      sourcemapExcludeSources: true,
      minify: true,
      entryFileNames: '[name].js',
      chunkFileNames: '[name].js',
      ...options,
    });
    await made.close();
    const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
    for (const folder of modules.map(packageOf)) if (folder !== undefined) packages.add(folder);
  };
  await write(PROGRAM, [addresses, runtimeModules], { codeSplitting: serverFiles(project) });
  for (const path of THREADS) await write({ [basename(path, '.ts')]: path }, [addresses], { codeSplitting: false });
  writeFileSync(join(into, NOTICES), noticesOf(project, packages));
  copyFileSync(join(project, LIBSECP256K1.module), join(into, basename(LIBSECP256K1.module)));
}
