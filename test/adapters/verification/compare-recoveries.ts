/** The faster recovery against noble, on mutated signatures: verdict and address must be the same on each. */
import { withNobleInDoubt } from '../../../src/adapters/verification/recovery.ts';
import { loadWasmRecovery } from '../../../src/adapters/verification/wasm-recovery.ts';
import { recoverWithNoble } from '../../../src/payment/signature/noble-recovery.ts';
import { checkedRecovery, type Recovered } from '../../../src/payment/signature/signature.ts';
import { mutatedSignatures } from './mutated-signatures.ts';

export interface Comparison {
  /** Noble's verdict -> how often. */
  readonly verdicts: Readonly<Record<string, number>>;
  /** Each one that differs: its number, kind and the answers. */
  readonly differences: readonly string[];
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const textOf = (recovered: Recovered): string => (recovered.ok ? hex(recovered.address) : recovered.reason);

const wasmRecover = await loadWasmRecovery();

/** As it is used: noble decides where the library throws. */
const faster = checkedRecovery(withNobleInDoubt(wasmRecover, () => {}));

/** The library alone, with nobody to ask in doubt. */
const unaided = checkedRecovery((digest, signature, parity) => {
  try {
    return wasmRecover(digest, signature.subarray(0, 64), parity) ?? undefined;
  } catch {
    return undefined;
  }
});

export function compareRecoveries(seed: number, count: number, stride = 1): Comparison {
  const verdicts: Record<string, number> = {};
  const differences: string[] = [];
  for (const { number, kind, digest, signature } of mutatedSignatures(seed, count, stride)) {
    const noble = recoverWithNoble(digest, signature);
    const verdict = noble.ok ? 'address' : noble.reason;
    verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
    const [expected, ...others] = [noble, faster(digest, signature), unaided(digest, signature)].map(textOf);
    if (others.every((one) => one === expected)) continue;
    differences.push(`${number} (${kind}): noble ${expected}, others ${others}; ${hex(digest)} ${hex(signature)}`);
  }
  return { verdicts, differences };
}
