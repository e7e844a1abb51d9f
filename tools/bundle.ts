/**
 * The program as few files: a start that reads a hundred times fewer of them is a third shorter (bench/start.ts). Packages that
 * we depend on stay outside, so that an operator can see, audit and replace them. Every file lies directly in the folder of the
 * build; a thread's program is one file of its own.
 */
import { basename, join } from 'node:path';
import { type CodeSplittingOptions, type OutputOptions, type Plugin, rolldown } from 'rolldown';

const PROGRAM = {
  main: 'src/main.ts',
  index: 'src/index.ts',
  'listen-bun': 'src/adapters/listen/bun/listen-bun.ts',
};

/** Files by the modules they start with, in the order in which a start loads them. A module is in the first that needs it. */
const SERVER_FILES = { commands: ['src/main.ts', 'src/cli/program.ts'], server: ['src/cli/serve.ts'] };

const THREADS = [
  'src/adapters/extraction/extraction-worker.ts',
  'src/adapters/files/catalogue-worker.ts',
  'src/adapters/verification/recovery-worker.ts',
  'src/load/signer.ts',
  'src/storage/sqlite/reader.ts',
  'src/storage/sqlite/writer.ts',
];

/** Packages of development that become part of the files; every other one stays where npm installs it. */
const BUNDLED =
  /^(?:@noble\/(?:curves|hashes)|@valibot\/to-json-schema|htmlparser2|hyparquet|itty-router|lru-cache|tldts|valibot)(?:\/|$)/;

/** Whether an import stays one: of the runtime, and of a package that is not bundled. What bundled packages import is. */
const isOutside = (id: string, from: string | undefined): boolean =>
  !/^[./]/.test(id) && (id.startsWith('node:') || (!BUNDLED.test(id) && !from?.includes('/node_modules/')));

/** `new URL('./bun/listen-bun.ts', import.meta.url)`: a module by its address. */
const MODULE_ADDRESS = /new URL\('\.\/(?:[\w-]+\/)*([\w-]+)\.ts', import\.meta\.url\)/g;

/** Files that the build makes apart, for the addresses in the sources: each is an entry, or the build fails. */
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

/** What modules need before they run, with what that needs, and themselves. */
function closureOf(entries: readonly string[], importsOf: (id: string) => readonly string[]): ReadonlySet<string> {
  const closure = new Set(entries);
  for (const id of closure) for (const imported of importsOf(id)) closure.add(imported);
  return closure;
}

/**
 * All that `serve` loads before it listens is two files: finding, reading and linking sixty takes longer than their code. The
 * smaller one is all that a word of help needs. The process entry waits for them, so it is in neither.
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

/** An import of a module of the runtime: what it binds, and the module. */
const RUNTIME_IMPORT = /^import (?:(\w+)(?:, )?)?(?:\{([^}]*)\})? ?from ?"(node:[\w/]+)";$/gm;

/**
 * Modules of the runtime as objects: an import of one reads each of its exports first, and some of those load more (`webcrypto`
 * of node:crypto, undici behind node:http), which a process may never need.
 */
const runtimeModules: Plugin = {
  name: 'modules of the runtime as objects',
  renderChunk(code) {
    const replaced = code.replace(
      RUNTIME_IMPORT,
      (_whole, whole: string | undefined, names: string | undefined, id: string) => {
        const module = `process.getBuiltinModule(${JSON.stringify(id)})`;
        const bound = names === undefined ? [] : [`{${names.replace(/ as /g, ': ')}}`];
        return [...(whole === undefined ? [] : [whole]), ...bound]
          .map((left) => `const ${left} = ${module};`)
          .join(' ');
      },
    );
    return { code: replaced, map: null }; // every line stays where it was
  },
};

/** @param project folder of the sources, with the packages @param into folder for the files; what it holds stays */
export async function bundle(project: string, into: string): Promise<void> {
  const write = async (input: Record<string, string>, options: OutputOptions): Promise<void> => {
    const made = await rolldown({
      cwd: project,
      input,
      platform: 'node',
      external: (id, from) => isOutside(id, from),
      plugins: process.env.RT ? [addresses, runtimeModules] : [addresses],
      transform: { target: 'es2024' },
      tsconfig: false,
    });
    await made.write({
      dir: into,
      format: 'esm',
      sourcemap: true,
      sourcemapExcludeSources: true,
      ...(process.env.MIN ? { minify: JSON.parse(process.env.MIN) } : {}),
      entryFileNames: '[name].js',
      chunkFileNames: '[name].js',
      ...options,
    });
    await made.close();
  };
  await write(PROGRAM, { codeSplitting: serverFiles(project) });
  for (const path of THREADS) await write({ [basename(path, '.ts')]: path }, { codeSplitting: false });
}
