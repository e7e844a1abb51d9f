/**
 * Which library recovers public keys. noble always works and decides in doubt; libsecp256k1 as WebAssembly
 * (tiny-secp256k1: 1.2 MB, MIT, no install script) takes its place where it loads, proves itself on vectors and is faster:
 * 4.6 to 5.7 times on Node 22 and 26, 1.7 to 2.4 times on Bun 1.4, 3.4 times on Deno 2.9 (two shared cores; `bench/signatures.ts`).
 */
import type { Clock } from '../../base/clock.ts';
import { decodeHex } from '../../base/codec.ts';
import { KNOWN_ANSWERS, selfTestFailure } from '../../payment/signature/recovery-self-test.ts';
import { noblePublicKey, type PublicKeyRecovery } from '../../payment/signature/signature.ts';

/** `noble`: nothing else is tried. */
export type SignatureMode = 'auto' | 'noble';

export interface ChosenRecovery {
  readonly library: 'wasm' | 'noble';
  readonly publicKeyOf: PublicKeyRecovery;
  /** One recovery, as measured now. */
  readonly recoveryMs: number;
  /** Why it is noble although the faster one was wanted; undefined when all is as wanted. */
  readonly notice: string | undefined;
}

/** The one function that is used of the package. Throws or answers null where there is no key. */
type WasmRecover = (digest: Uint8Array, rs: Uint8Array, recovery: 0 | 1, isCompressed: false) => Uint8Array | null;

const PUBLIC_KEY_BYTES = 65;
const UNCOMPRESSED = 4;
/** Recoveries of each library that are timed: 21 to 28 ms with noble in a fresh process. */
const TIMED_COUNT = 5;

/** What a busy machine does to a library's times falls on its median; its fastest says what it can do. */
interface TimerEntry {
  readonly medianMs: number;
  readonly fastestMs: number;
}

/** A trap may leave the module's memory in any state. */
const isTrap = (failure: unknown): boolean => failure instanceof WebAssembly.RuntimeError;

/**
 * The library's recovery with noble behind it. null is a plain "no key": the vectors hold it to that. It throws where r is
 * the x of no point, which noble finds out in a tenth of a recovery; whatever else it throws, or answers in another form
 * than a key's, is doubt, and noble decides that too. After a trap it is not asked again.
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

const messageOf = (failure: unknown): string =>
  (failure instanceof Error ? failure.message : String(failure)).split('\n')[0] as string;

/** Times of the libraries, taken in turn so that a busy moment meets both. */
function timed(clock: Clock, ...libraries: readonly PublicKeyRecovery[]): TimerEntry[] {
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

/** Never rejects. @param load the package, or a stand-in for one that is missing, wrong or slow */
export async function chooseRecovery(
  mode: SignatureMode,
  clock: Clock,
  load: () => Promise<WasmRecover> = loadWasm,
): Promise<ChosenRecovery> {
  const noble = ({ medianMs }: TimerEntry, why?: string): ChosenRecovery => ({
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
    return noble(timed(clock, noblePublicKey)[0]!, `the faster one cannot be loaded (${messageOf(failure)})`);
  }
  const wrong = selfTestFailure(candidate);
  const [nobles, candidates] = timed(clock, noblePublicKey, candidate) as [TimerEntry, TimerEntry];
  if (wrong !== undefined) return noble(nobles, `the other one is wrong (${wrong})`);
  if (candidates.fastestMs >= nobles.fastestMs) return noble(nobles, 'the other one is not faster here');
  return { library: 'wasm', publicKeyOf: candidate, recoveryMs: candidates.medianMs, notice: undefined };
}
