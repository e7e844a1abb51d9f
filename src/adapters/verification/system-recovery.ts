/**
 * libsecp256k1 as a library of the system (Debian: `libsecp256k1-1`), called through the runtime's own interface for foreign
 * functions: `node:ffi` of Node 26, `bun:ffi`. Its functions and structures are unchanged since recovery was added to its
 * public interface (include/secp256k1_recovery.h). Everything it reads and writes is in one buffer of this module.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { errorCodeOf } from '../../base/failure.ts';
import type { Libsecp256k1 } from './wasm-recovery.ts';

/** Where systems keep libraries. Absolute paths, so that none is loaded from the server's working directory. */
const FOLDERS = [
  '/usr/local/lib',
  `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`,
  '/usr/lib64',
  '/usr/lib',
  '/opt/homebrew/lib',
];
/** Newest first. The number rises with each change of the interface; none so far touched the functions used here. */
const NAMES = ['.so.6', '.so.5', '.so.2', '.so.1', '.dylib'].map((ending) => `libsecp256k1${ending}`);

/** An address in the process's memory: a number in Bun, a bigint in Node. */
type Address = number | bigint;

interface Functions {
  secp256k1_context_create(flags: number): Address;
  secp256k1_ecdsa_recoverable_signature_parse_compact(
    context: Address,
    parsed: Address,
    rs: Address,
    recovery: number,
  ): number;
  secp256k1_ecdsa_recover(context: Address, key: Address, parsed: Address, digest: Address): number;
  secp256k1_ec_pubkey_serialize(
    context: Address,
    output: Address,
    outputLength: Address,
    key: Address,
    flags: number,
  ): number;
}

const POINTER = 'pointer';
const INT = 'i32';
const UNSIGNED = 'u32';

/** Parameter types; all functions return an `int` except the first, which returns a pointer. */
const SIGNATURES: Readonly<Record<keyof Functions, readonly string[]>> = {
  secp256k1_context_create: [UNSIGNED],
  secp256k1_ecdsa_recoverable_signature_parse_compact: [POINTER, POINTER, POINTER, INT],
  secp256k1_ecdsa_recover: [POINTER, POINTER, POINTER, POINTER],
  secp256k1_ec_pubkey_serialize: [POINTER, POINTER, POINTER, POINTER, UNSIGNED],
};
const resultOf = (name: string): string => (name === 'secp256k1_context_create' ? POINTER : INT);

/** A runtime's interface, as far as it is used here. */
interface ForeignFunctions {
  /** @throws Error for a file that is no library, or lacks a function */
  open(file: string): Functions;
  addressOf(memory: Uint8Array): Address;
}

const mapped = <T>(form: (name: string, parameters: readonly string[]) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(SIGNATURES).map(([name, parameters]) => [name, form(name, parameters)]));

/** Typed as `string` so that no compiler resolves them: each module exists in one runtime only. */
const BUN_FFI: string = 'bun:ffi';
const NODE_FFI: string = 'node:ffi';

async function foreignFunctions(): Promise<ForeignFunctions | undefined> {
  if ('Bun' in globalThis) {
    const { dlopen, ptr } = (await import(BUN_FFI)) as {
      dlopen(file: string, functions: object): { symbols: Functions };
      ptr(memory: Uint8Array): number;
    };
    const functions = mapped((name, args) => ({ args, returns: resultOf(name) }));
    return { open: (file) => dlopen(file, functions).symbols, addressOf: ptr };
  }
  try {
    const { dlopen, getRawPointer } = (await import(NODE_FFI)) as {
      dlopen(file: string, functions: object): { functions: Functions };
      getRawPointer(memory: Uint8Array): bigint;
    };
    const functions = mapped((name, parameters) => ({ arguments: parameters, return: resultOf(name) }));
    return { open: (file) => dlopen(file, functions).functions, addressOf: getRawPointer };
  } catch (failure) {
    if (errorCodeOf(failure) === 'ERR_UNKNOWN_BUILTIN_MODULE') return undefined;
    throw failure;
  }
}

const CONTEXT_NONE = 1;
const UNCOMPRESSED = 2;
const KEY_BYTES = 65;

/** Offsets in the buffer; each item is at most 65 bytes long. */
const AT = { digest: 0, rs: 128, parsed: 256, key: 384, output: 512, outputLength: 640 };
const BUFFER_BYTES = 768;

/**
 * Opens the first file that has all functions: recovery is an optional part of the library. @throws Error when none of them has
 */
function openFirst(files: readonly string[], { open }: ForeignFunctions): Functions {
  let fault: unknown;
  for (const file of files) {
    try {
      return open(file);
    } catch (failure) {
      fault = failure;
    }
  }
  throw fault;
}

/** Resolves with undefined if the library is not installed or the runtime cannot call it. Rejects if it fails. */
export async function loadSystemRecovery(): Promise<Libsecp256k1 | undefined> {
  const files = FOLDERS.flatMap((folder) => NAMES.map((name) => join(folder, name))).filter(existsSync);
  const foreign = files.length === 0 ? undefined : await foreignFunctions();
  if (foreign === undefined) return undefined;
  const library = openFirst(files, foreign);
  const bytes = new Uint8Array(new ArrayBuffer(BUFFER_BYTES)); // of a buffer of its own, which no collector moves
  const start = foreign.addressOf(bytes);
  const addressOf = (offset: number): Address => (typeof start === 'bigint' ? start + BigInt(offset) : start + offset);
  const [digestAt, rsAt, parsedAt] = [AT.digest, AT.rs, AT.parsed].map(addressOf) as [Address, Address, Address];
  const [keyAt, outputAt, lengthAt] = [AT.key, AT.output, AT.outputLength].map(addressOf) as [
    Address,
    Address,
    Address,
  ];
  const outputLength = new BigUint64Array(bytes.buffer, AT.outputLength, 1); // size_t of 64 bits
  const output = bytes.subarray(AT.output, AT.output + KEY_BYTES);
  const context = library.secp256k1_context_create(CONTEXT_NONE);
  return (digest, rs, recovery) => {
    bytes.set(digest, AT.digest);
    bytes.set(rs, AT.rs);
    outputLength[0] = BigInt(KEY_BYTES);
    const isKey =
      library.secp256k1_ecdsa_recoverable_signature_parse_compact(context, parsedAt, rsAt, recovery) === 1 &&
      library.secp256k1_ecdsa_recover(context, keyAt, parsedAt, digestAt) === 1 &&
      library.secp256k1_ec_pubkey_serialize(context, outputAt, lengthAt, keyAt, UNCOMPRESSED) === 1;
    return isKey ? output.slice() : null;
  };
}
