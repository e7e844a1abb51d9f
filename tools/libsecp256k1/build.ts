/**
 * `npm run libsecp256k1`: compiles libsecp256k1 to `src/adapters/verification/libsecp256k1.wasm`, from the release that
 * Debian distributes, whose digest is below. The same compiler makes the same bytes: `-- --check` compares them with
 * the existing file, writes nothing, and exits with 1 if they differ; `-- --archive FILE` takes the release from a
 * file. Needs clang and wasm-ld of LLVM 19 (Debian: `clang-19 lld-19`), tar and xz.
 *
 * WebAssembly multiplies at most two 32-bit numbers exactly in one instruction, so the library must use its field
 * implementation for such machines (USE_FORCE_WIDEMUL_INT64). By default it would detect the compiler's 128-bit type, which
 * costs a function call for each product; a recovery then takes two to three times as long (`bench/signatures.ts`).
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const RELEASE = {
  folder: 'libsecp256k1-0.5.0',
  address: 'http://deb.debian.org/debian/pool/main/libs/libsecp256k1/libsecp256k1_0.5.0.orig.tar.xz',
  /** From the package's description, which Debian's maintainers sign. */
  sha256: '13b70138be52d7a23bdf0ea39ed79799a30eb855f2ed82c028357f6432cd536b',
};

const COMPILER = 'clang-19';
const FLAGS = [
  '--target=wasm32',
  '-O3',
  '-mbulk-memory',
  '-nostdlib',
  '-DUSE_FORCE_WIDEMUL_INT64',
  '-DUSE_EXTERNAL_DEFAULT_CALLBACKS',
  // Tables of 64 KiB; those of 1 MiB, the default, are no faster here.
  '-DECMULT_WINDOW_SIZE=11',
  // The smallest table for signing; the linker drops it with the functions that read it.
  '-DECMULT_GEN_PREC_BITS=2',
  '-Wall',
  '-Wno-unused-function',
];
const LINKING = [
  '--no-entry',
  '--strip-all',
  '--stack-first',
  '-z,stack-size=65536',
  ...['digest_input', 'signature_input', 'public_key_output'].map((name) => `--export=${name}`),
];

const here = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const MODULE = here('../../src/adapters/verification/libsecp256k1.wasm');
const LICENCE = `${MODULE}.LICENSE`;

async function download(): Promise<Uint8Array> {
  const response = await fetch(RELEASE.address);
  if (!response.ok) throw new Error(`${RELEASE.address}: status ${response.status}`);
  return response.bytes();
}

/** @returns the library's folder @throws Error when the archive has another digest */
function unpack(archive: Uint8Array, folder: string): string {
  const sha256 = createHash('sha256').update(archive).digest('hex');
  if (sha256 !== RELEASE.sha256) throw new Error(`SHA-256 of the release is ${sha256}, not ${RELEASE.sha256}`);
  const path = join(folder, 'sources.tar.xz');
  writeFileSync(path, archive);
  execFileSync('tar', ['-xf', path, '-C', folder]);
  return join(folder, RELEASE.folder);
}

/** @param sources the library's folder @param into the module's file */
function compile(sources: string, into: string): void {
  const includes = ['-isystem', here('include'), '-I', sources, '-I', join(sources, 'include')];
  const linking = LINKING.map((option) => `-Wl,${option}`);
  execFileSync(COMPILER, [...FLAGS, ...includes, ...linking, here('module.c'), '-o', into], { stdio: 'inherit' });
}

const { values } = parseArgs({
  options: { check: { type: 'boolean', default: false }, archive: { type: 'string' } },
});
const folder = mkdtempSync(join(tmpdir(), 'libsecp256k1-'));
try {
  const sources = unpack(values.archive === undefined ? await download() : readFileSync(values.archive), folder);
  const made = join(folder, 'module.wasm');
  compile(sources, made);
  const licence = join(sources, 'COPYING');
  if (!values.check) {
    copyFileSync(made, MODULE);
    copyFileSync(licence, LICENCE);
    console.log(`${MODULE}: ${readFileSync(MODULE).length} bytes`);
  } else if (readFileSync(made).equals(readFileSync(MODULE)) && readFileSync(licence).equals(readFileSync(LICENCE))) {
    console.log('the module is what its sources make');
  } else {
    console.error(`${MODULE} or its licence is not what its sources make`);
    process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true });
}
