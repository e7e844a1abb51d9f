/**
 * Chooses the library that recovers public keys. noble always works and decides in doubt. libsecp256k1 as WebAssembly
 * (tiny-secp256k1: MIT, no install script) replaces it where it loads, passes its self-test and is faster, which it is on all
 * runtimes that `bench/signatures.ts` has measured.
 */
import type { Clock } from '../../base/clock.ts';
import { decodeHex } from '../../base/codec.ts';
import { firstLineOf } from '../../base/failure.ts';
import { KNOWN_ANSWERS, selfTestFailure } from '../../payment/signature/recovery-self-test.ts';
import { noblePublicKey, type PublicKeyRecovery } from '../../payment/signature/signature.ts';

/** `auto`: the fastest library that passes its self-test; `noble`: only noble. */
export type SignatureMode = 'auto' | 'noble';

export interface ChosenRecovery {
  readonly library: 'wasm' | 'noble';
  readonly publicKeyOf: PublicKeyRecovery;
  /** Duration of one recovery, measured at start. */
  readonly recoveryMs: number;
  /** Why noble was chosen against the mode; undefined when the choice follows the mode. */
  readonly notice: string | undefined;
}

/** The function that we use of tiny-secp256k1. It throws or returns null when there is no key. */
type WasmRecover = (digest: Uint8Array, rs: Uint8Array, recovery: 0 | 1, isCompressed: false) => Uint8Array | null;

const PUBLIC_KEY_BYTES = 65;
const UNCOMPRESSED = 4;
/** Timed recoveries per library: few, since each start of the server waits for them. */
const TIMED_COUNT = 5;

/** On a busy machine the median shows the load and the fastest time shows the library. */
interface Times {
  readonly medianMs: number;
  readonly fastestMs: number;
}

/** A trap may leave the module's memory in any state. */
const isTrap = (failure: unknown): boolean => failure instanceof WebAssembly.RuntimeError;

/**
 * Recovery by the WebAssembly library, with noble as the fallback. null means "no key"; the self-test checks that. The library
 * throws when r is the x of no point, which noble finds out quickly. noble decides every other error and malformed result, too.
 * After a trap only noble is used.
 */
export function wasmPublicKey(recover: WasmRecover): PublicKeyRecovery {
  let isTrusted = true;
  return (digest, signature, recovery) => {
    if (!isTrusted) return noblePublicKey(digest, signature, recovery);
    try {
      const key = recover(digest, signature.subarray(0, 64), recovery, false);
      if (key === null) return undefined;
      if (key.length === PUBLIC_KEY_BYTES && key[0] === UNCOMPRESSED) return key;
    } catch (failure) {
      if (isTrap(failure)) isTrusted = false;
    }
    return noblePublicKey(digest, signature, recovery);
  };
}

/** Times the libraries in turn, so that a busy moment affects all of them. */
function timed(clock: Clock, ...libraries: readonly PublicKeyRecovery[]): Times[] {
  const [good] = KNOWN_ANSWERS;
  if (good === undefined) throw new Error('no vector');
  const digest = decodeHex(good.digest) as Uint8Array;
  const signature = decodeHex(good.signature) as Uint8Array;
  const times = libraries.map((): number[] => []);
  for (let round = 0; round < TIMED_COUNT; round++) {
    for (const [i, publicKeyOf] of libraries.entries()) {
      const startMs = clock.monotonicMs();
      publicKeyOf(digest, signature, signature[64] === 27 ? 0 : 1);
      times[i]!.push(clock.monotonicMs() - startMs);
    }
  }
  return times.map((one) => {
    const sorted = one.sort((a, b) => a - b);
    return { fastestMs: sorted[0]!, medianMs: sorted[TIMED_COUNT >> 1]! };
  });
}

async function loadWasm(): Promise<WasmRecover> {
  const { recover } = await import('tiny-secp256k1');
  return recover as WasmRecover;
}

/** Never rejects. @param load loads the package; tests pass one that is missing, wrong or slow */
export async function chooseRecovery(
  mode: SignatureMode,
  clock: Clock,
  load: () => Promise<WasmRecover> = loadWasm,
): Promise<ChosenRecovery> {
  const noble = ({ medianMs }: Times, why?: string): ChosenRecovery => ({
    library: 'noble',
    publicKeyOf: noblePublicKey,
    recoveryMs: medianMs,
    notice: why === undefined ? undefined : `signatures are verified by noble, the slower library: ${why}`,
  });
  if (mode === 'noble') return noble(timed(clock, noblePublicKey)[0]!);
  let candidate: PublicKeyRecovery;
  try {
    candidate = wasmPublicKey(await load());
  } catch (failure) {
    return noble(timed(clock, noblePublicKey)[0]!, `tiny-secp256k1 cannot be loaded (${firstLineOf(failure)})`);
  }
  const wrong = selfTestFailure(candidate);
  const [nobles, candidates] = timed(clock, noblePublicKey, candidate) as [Times, Times];
  if (wrong !== undefined) return noble(nobles, `tiny-secp256k1 fails its self-test (${wrong})`);
  if (candidates.fastestMs >= nobles.fastestMs) return noble(nobles, 'tiny-secp256k1 is not faster here');
  return { library: 'wasm', publicKeyOf: candidate, recoveryMs: candidates.medianMs, notice: undefined };
}
