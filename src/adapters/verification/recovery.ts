/**
 * Chooses the library that recovers public keys. First comes libsecp256k1 as native code, if the operator has installed
 * it (as a system library, or as the package `secp256k1` with a binary for this machine); then libsecp256k1 as
 * WebAssembly, which is included; then noble. A library is used only if it passes the self-test at start; noble always
 * works and decides in doubt. On the runtimes measured by `bench/signatures.ts` each is at least as fast as the next.
 */
import type { Clock } from '../../base/clock.ts';
import { decodeHex } from '../../base/codec.ts';
import { errorCodeOf, firstLineOf } from '../../base/failure.ts';
import { digestOf } from '../../payment/protocol/typed-data.ts';
import { noblePublicKey, recoverWithNoble } from '../../payment/signature/noble-recovery.ts';
import { KNOWN_ANSWERS, selfTestFailure } from '../../payment/signature/recovery-self-test.ts';
import {
  checkedRecovery,
  type Keccak256,
  type PublicKeyRecovery,
  type Recovered,
} from '../../payment/signature/signature.ts';
import { chooseKeccak, NOBLE_KECCAK } from './keccak.ts';
import type { Libsecp256k1 } from './wasm-recovery.ts';

/** `auto`: the fastest library that passes its self-test; `wasm`: the same without native code; `noble`: only noble. */
export type SignatureMode = 'auto' | 'wasm' | 'noble';

export type RecoveryLibrary = 'native' | 'wasm' | 'noble';

/** The signer of an authorization's struct (`structOf`). Never throws. */
export type RecoverSigner = (struct: Uint8Array, signature: Uint8Array) => Recovered;

/**
 * @param publicKeyOf, keccak256 the libraries to recover with; noble takes the place of one that fails
 * @param onDoubt called before it does
 */
function signerRecovery(publicKeyOf: PublicKeyRecovery, keccak256: Keccak256, onDoubt: () => void): RecoverSigner {
  const recover = checkedRecovery(publicKeyOf, keccak256);
  return (struct, signature) => {
    try {
      return recover(digestOf(struct, keccak256), signature);
    } catch {
      onDoubt();
      return recoverWithNoble(digestOf(struct), signature);
    }
  };
}

export interface ChosenRecovery {
  readonly library: RecoveryLibrary;
  readonly publicKeyOf: PublicKeyRecovery;
  readonly recoverSigner: RecoverSigner;
  /** Duration of one recovery, measured at start. */
  readonly recoveryMs: number;
  /** Whether noble recovers nothing: a library was chosen and has never been in doubt. */
  isWithoutNoble(): boolean;
  /** Why a slower library than the mode asks for was chosen; undefined if the choice follows the mode. */
  readonly notice: string | undefined;
}

/** The part of the package `secp256k1` that is used here. */
interface NativePackage {
  ecdsaRecover(rs: Uint8Array, recovery: number, digest: Uint8Array, isCompressed: boolean): Uint8Array;
}

/** Its error message for a signature without a key; the error has no code. */
const NATIVE_NO_KEY = 'Public key could not be recover';

const PUBLIC_KEY_BYTES = 65;
const UNCOMPRESSED = 4;
/** Timed recoveries: few, since each start of the server waits for them. */
const TIMED_COUNT = 5;

/** A trap may leave the module's memory in any state. */
const isTrap = (failure: unknown): boolean => failure instanceof WebAssembly.RuntimeError;

/**
 * Recovery by libsecp256k1, with noble as the fallback. null means "no key"; the self-test checks that. noble decides
 * when the library throws or returns something that is no key. After a trap only noble is used.
 * @param onDoubt called before noble decides
 */
export function withNobleInDoubt(recover: Libsecp256k1, onDoubt: () => void = () => {}): PublicKeyRecovery {
  let isTrusted = true;
  return (digest, signature, recovery) => {
    if (!isTrusted) return noblePublicKey(digest, signature, recovery);
    try {
      const key = recover(digest, signature.subarray(0, 64), recovery);
      if (key === null) return undefined;
      if (key.length === PUBLIC_KEY_BYTES && key[0] === UNCOMPRESSED) return key;
    } catch (failure) {
      if (isTrap(failure)) isTrusted = false;
    }
    onDoubt();
    return noblePublicKey(digest, signature, recovery);
  };
}

/** The median time of a recovery, milliseconds. */
function medianMsOf(publicKeyOf: PublicKeyRecovery, clock: Clock): number {
  const [good] = KNOWN_ANSWERS;
  if (good === undefined) throw new Error('no vector');
  const digest = decodeHex(good.digest) as Uint8Array;
  const signature = decodeHex(good.signature) as Uint8Array;
  const times = Array.from({ length: TIMED_COUNT }, () => {
    const startMs = clock.monotonicMs();
    publicKeyOf(digest, signature, signature[64] === 27 ? 0 : 1);
    return clock.monotonicMs() - startMs;
  });
  return times.sort((a, b) => a - b)[TIMED_COUNT >> 1] as number;
}

/** @param native the package's main object */
export const nativeRecover =
  (native: NativePackage): Libsecp256k1 =>
  (digest, rs, recovery) => {
    try {
      return native.ecdsaRecover(rs, recovery, digest, false);
    } catch (failure) {
      if ((failure as Error).message === NATIVE_NO_KEY) return null;
      throw failure;
    }
  };

/** A library to try. */
export interface Candidate {
  readonly library: RecoveryLibrary;
  /** What it is called in a notice. */
  readonly name: string;
  /** Rejects when it cannot be loaded; resolves with undefined when it is optional and not installed. */
  load(): Promise<Libsecp256k1 | undefined>;
}

const SYSTEM: Candidate = {
  library: 'native',
  name: 'libsecp256k1 of the system',
  async load() {
    return (await import('./system-recovery.ts')).loadSystemRecovery();
  },
};

const PACKAGE: Candidate = {
  library: 'native',
  name: 'secp256k1',
  async load() {
    // The package's other entry falls back to a JavaScript library slower than noble. Typed as `string` so that no
    // compiler resolves it.
    const name: string = 'secp256k1/bindings.js';
    try {
      return nativeRecover(((await import(name)) as { default: NativePackage }).default);
    } catch (failure) {
      if (errorCodeOf(failure) === 'ERR_MODULE_NOT_FOUND') return undefined;
      throw failure; // an installed package that lacks its binary
    }
  },
};

const WASM: Candidate = {
  library: 'wasm',
  name: 'libsecp256k1.wasm',
  async load() {
    return (await import('./wasm-recovery.ts')).loadWasmRecovery();
  },
};

const isWanted: Readonly<Record<SignatureMode, (candidate: Candidate) => boolean>> = {
  auto: () => true,
  wasm: ({ library }) => library !== 'native',
  noble: () => false,
};

/** Never rejects. @param candidates the libraries to try in this order, before noble @param keccaks chooses the Keccak-256 */
export async function chooseRecovery(
  mode: SignatureMode,
  clock: Clock,
  candidates: readonly Candidate[] = [SYSTEM, PACKAGE, WASM],
  keccaks = chooseKeccak,
): Promise<ChosenRecovery> {
  const faults: string[] = [];
  const keccak = mode === 'noble' ? NOBLE_KECCAK : await keccaks();
  let isInDoubt = false;
  const doubt = (): void => {
    isInDoubt = true;
  };
  const chosen = (library: RecoveryLibrary, publicKeyOf: PublicKeyRecovery): ChosenRecovery => {
    const notices =
      faults.length === 0 ? [] : [`signatures are verified by ${library}, a slower library: ${faults.join('; ')}`];
    if (keccak.notice !== undefined) notices.push(keccak.notice);
    return {
      library,
      publicKeyOf,
      recoverSigner: signerRecovery(publicKeyOf, keccak.keccak256, doubt),
      recoveryMs: medianMsOf(publicKeyOf, clock),
      isWithoutNoble: () => library !== 'noble' && !isInDoubt,
      notice: notices.length === 0 ? undefined : notices.join('; '),
    };
  };
  for (const { library, name, load } of candidates.filter(isWanted[mode])) {
    try {
      const recover = await load();
      if (recover === undefined) continue;
      isInDoubt = false;
      const publicKeyOf = withNobleInDoubt(recover, doubt);
      const wrong = selfTestFailure(publicKeyOf);
      if (wrong === undefined) return chosen(library, publicKeyOf);
      faults.push(`${name} fails its self-test (${wrong})`);
    } catch (failure) {
      faults.push(`${name} cannot be loaded (${firstLineOf(failure)})`);
    }
  }
  return chosen('noble', noblePublicKey);
}
