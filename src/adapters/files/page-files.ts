/**
 * The files of the pages: our own from `pages/`, and the API reference's library (swagger-ui-dist), which the build puts beside
 * the compiled program and which a checkout has among its packages. A closed list, read at the first request.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { StaticFile, StaticFiles } from '../../http/static-files.ts';

const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

/** Name -> type. */
const OWN_FILES: Readonly<Record<string, string>> = {
  'style.css': CSS,
  'docs.css': CSS,
  'docs.js': SCRIPT,
  'inbox.js': SCRIPT,
  'operator.css': CSS,
  'operator.js': SCRIPT,
  'boards.css': CSS,
  'boards.js': SCRIPT,
  'sales.css': CSS,
  'sales.js': SCRIPT,
  'bytes.js': SCRIPT,
  'json-text.js': SCRIPT,
  'copy.js': SCRIPT,
  'icon.svg': 'image/svg+xml',
};

/** Name -> type and file of the library. */
const LIBRARY_FILES: Readonly<Record<string, readonly [type: string, file: string]>> = {
  'reference.js': [SCRIPT, 'swagger-ui-bundle.js'],
};

/** Hex digits of SHA-256 that tell one file from another. */
const DIGEST_LENGTH = 20;

const compress = promisify(gzip);
const digestOf = (parts: readonly (string | Uint8Array)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex').slice(0, DIGEST_LENGTH);
};

/** The package's folder: above `dist`, or above src/adapters/files. */
const ROOTS = ['../', '../../../'];

const packageFile = (path: string): URL | undefined =>
  ROOTS.map((root) => new URL(root + path, import.meta.url)).find((place) => existsSync(place));

/** Looks in the package's build, then among the packages; undefined if neither has it. */
function libraryFile(file: string): string | URL | undefined {
  const built = packageFile(`dist/vendor/${file}`);
  if (built !== undefined) return built;
  try {
    return createRequire(import.meta.url).resolve(`swagger-ui-dist/${file}`);
  } catch {
    return undefined; // installed without dev dependencies: /docs says so, everything else works
  }
}

function pageFile(type: string, path: string | URL): StaticFile {
  const bytes = readFileSync(path);
  let gzipped: Promise<Uint8Array> | undefined;
  return {
    type,
    bytes,
    digest: digestOf([bytes]),
    gzipped() {
      gzipped ??= compress(bytes);
      return gzipped;
    },
  };
}

function readAll(): ReadonlyMap<string, StaticFile> {
  const files = new Map<string, StaticFile>();
  for (const [name, type] of Object.entries(OWN_FILES)) {
    const path = packageFile(`pages/${name}`);
    if (path === undefined) throw new Error(`pages/${name} was not found in the folders above the program`);
    files.set(name, pageFile(type, path));
  }
  for (const [name, [type, file]] of Object.entries(LIBRARY_FILES)) {
    const path = libraryFile(file);
    if (path !== undefined) files.set(name, pageFile(type, path));
  }
  return files;
}

/** Reads the files at the first request for one, because many servers never get a visit from a browser. */
export function openPageFiles(): StaticFiles {
  let files: ReadonlyMap<string, StaticFile> | undefined;
  let digest: string | undefined;
  const all = (): ReadonlyMap<string, StaticFile> => {
    files ??= readAll();
    return files;
  };
  return {
    get digest() {
      digest ??= digestOf([...all()].flatMap(([name, file]) => [name, file.digest]));
      return digest;
    },
    find: (name) => all().get(name),
  };
}
