/**
 * The program as few files: a start that reads a hundred times fewer of them is a third shorter (bench/start.ts). Packages that
 * we depend on stay outside, so that an operator can see, audit and replace them. Every file lies directly in the folder of the
 * build; a thread's program is one file of its own.
 */
import { basename } from 'node:path';
import { type OutputOptions, type Plugin, rolldown } from 'rolldown';

const PROGRAM = {
  main: 'src/main.ts',
  index: 'src/index.ts',
  'listen-bun': 'src/adapters/listen/bun/listen-bun.ts',
};

const THREADS = [
  'src/adapters/extraction/extraction-worker.ts',
  'src/adapters/files/catalogue-worker.ts',
  'src/adapters/verification/recovery-worker.ts',
  'src/load/signer.ts',
  'src/storage/sqlite/reader.ts',
  'src/storage/sqlite/writer.ts',
];

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

/** @param project folder of the sources, with the packages @param into folder for the files; what it holds stays */
export async function bundle(project: string, into: string): Promise<void> {
  const write = async (input: Record<string, string>, options: OutputOptions): Promise<void> => {
    const made = await rolldown({
      cwd: project,
      input,
      platform: 'node',
      external: (id) => !/^[./]/.test(id),
      plugins: [addresses],
      transform: { target: 'es2024' },
      tsconfig: false,
    });
    await made.write({
      dir: into,
      format: 'esm',
      sourcemap: true,
      sourcemapExcludeSources: true,
      entryFileNames: '[name].js',
      chunkFileNames: '[name].js',
      ...options,
    });
    await made.close();
  };
  await write(PROGRAM, {});
  for (const path of THREADS) await write({ [basename(path, '.ts')]: path }, { codeSplitting: false });
}
