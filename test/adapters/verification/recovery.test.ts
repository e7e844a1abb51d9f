/** Which library is chosen: the faster one only where it proves itself, and noble wherever there is doubt. */
import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, it } from 'vitest';
import {
  type Candidate,
  chooseRecovery,
  nativeRecover,
  withNobleInDoubt,
} from '../../../src/adapters/verification/recovery.ts';
import { loadSystemRecovery } from '../../../src/adapters/verification/system-recovery.ts';
import { type Libsecp256k1, loadWasmRecovery } from '../../../src/adapters/verification/wasm-recovery.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { decodeHex } from '../../../src/base/codec.ts';
import { digestOf, STRUCT_BYTES } from '../../../src/payment/protocol/typed-data.ts';
import { noblePublicKey, recoverWithNoble } from '../../../src/payment/signature/noble-recovery.ts';
import { KNOWN_ANSWERS, selfTestFailure } from '../../../src/payment/signature/recovery-self-test.ts';
import { checkedRecovery } from '../../../src/payment/signature/signature.ts';
import { mutatedSignatures } from './mutated-signatures.ts';

const real = await loadWasmRecovery();
const system = await loadSystemRecovery();
const candidate = (load: Candidate['load']): Candidate => ({ library: 'wasm', name: 'libsecp256k1.wasm', load });
const [good] = KNOWN_ANSWERS as [(typeof KNOWN_ANSWERS)[number]];
const digest = decodeHex(good.digest) as Uint8Array;
const signature = decodeHex(good.signature) as Uint8Array;
const goodKey = noblePublicKey(digest, signature, 1);

const fail = (reason: string): never => {
  throw new Error(reason);
};

const infinity = KNOWN_ANSWERS.find(({ what }) => what.includes('infinity'));

describe('the choice of a library', () => {
  it('is the fastest one that is here', async () => {
    const chosen = await chooseRecovery('auto', systemClock);
    expect(chosen).toMatchObject({ library: system === undefined ? 'wasm' : 'native', notice: undefined });
    expect(chosen.recoveryMs).toBeGreaterThan(0);
    expect(selfTestFailure(chosen.publicKeyOf)).toBeUndefined();
  });

  it('is WebAssembly where no native code is wanted, and none is loaded', async () => {
    expect(await chooseRecovery('wasm', systemClock)).toMatchObject({ library: 'wasm', notice: undefined });
    const native: Candidate = { library: 'native', name: 'other', load: () => Promise.reject(new Error('loaded')) };
    const chosen = await chooseRecovery('wasm', systemClock, [native, candidate(async () => real)]);
    expect(chosen).toMatchObject({ library: 'wasm', notice: undefined });
  });

  it('recovers the signer of a struct', async () => {
    for (const mode of ['auto', 'wasm', 'noble'] as const) {
      const { recoverSigner } = await chooseRecovery(mode, systemClock);
      for (const { digest: seed, signature: bytes } of mutatedSignatures(5, 40, 3)) {
        const struct = new Uint8Array(STRUCT_BYTES);
        struct.set(seed, 0);
        expect(recoverSigner(struct, bytes)).toEqual(recoverWithNoble(digestOf(struct), bytes));
      }
    }
  });

  it('is noble when that is wanted, and nothing else is loaded', async () => {
    const load = () => Promise.reject(new Error('loaded'));
    expect(await chooseRecovery('noble', systemClock, [candidate(load)])).toMatchObject({
      library: 'noble',
      notice: undefined,
    });
  });

  it('is noble with a notice where the package cannot be loaded', async () => {
    const load = () => Promise.reject(new Error('Cannot find libsecp256k1.wasm\nmore'));
    const chosen = await chooseRecovery('auto', systemClock, [candidate(load)]);
    expect(chosen.library).toBe('noble');
    expect(chosen.notice).toMatch(
      /^signatures are verified by noble.*cannot be loaded \(Cannot find libsecp256k1\.wasm[^\n]*$/,
    );
    expect(checkedRecovery(chosen.publicKeyOf)(digest, signature)).toMatchObject({ ok: true });
  });

  it.each<[string, Libsecp256k1]>([
    ['swaps the parity of y', (hash, rs, parity) => real(hash, rs, parity === 0 ? 1 : 0)],
    ['takes another digest', (_, rs, parity) => real(new Uint8Array(32).fill(1), rs, parity)],
    ['never finds a key', () => null],
    ['finds a key at infinity', (hash, rs, parity) => real(hash, rs, parity) ?? (goodKey as Uint8Array)],
    [
      'overlooks the last bit of s',
      (hash, rs, parity) =>
        real(
          hash,
          Uint8Array.from(rs, (byte, i) => (i === 63 ? byte & 254 : byte)),
          parity,
        ),
    ],
  ])('is noble with a notice where the other %s', async (_, wrong) => {
    const chosen = await chooseRecovery('auto', systemClock, [candidate(async () => wrong)]);
    expect(chosen).toMatchObject({
      library: 'noble',
      notice: expect.stringMatching(/libsecp256k1\.wasm fails its self-test \(.+\)$/),
    });
  });

  it('is the first that proves itself, and what does not have to be there is not missed', async () => {
    const absent: Candidate = { library: 'native', name: 'secp256k1', load: async () => undefined };
    const next = candidate(async () => real);
    expect(await chooseRecovery('auto', systemClock, [absent, next])).toMatchObject({
      library: 'wasm',
      notice: undefined,
    });
    const wrong: Candidate = { ...absent, load: async () => () => null };
    const { library, notice } = await chooseRecovery('auto', systemClock, [wrong, next]);
    expect(library).toBe('wasm');
    expect(notice).toMatch(/^signatures are verified by wasm, a slower library: secp256k1 fails its self-test \(.+\)$/);
  });

  it('is the native one in the form in which its package answers', async () => {
    const native = nativeRecover({
      ecdsaRecover(rs, recovery, hash) {
        const key = real(hash, rs, recovery as 0 | 1);
        if (key === null) throw new Error('Public key could not be recover');
        return key;
      },
    });
    expect(selfTestFailure(withNobleInDoubt(native, () => {}))).toBeUndefined();
    const [hash, bytes] = [infinity?.digest, infinity?.signature].map((text) => decodeHex(text ?? '') as Uint8Array);
    expect(native(hash as Uint8Array, (bytes as Uint8Array).subarray(0, 64), 0)).toBeNull();
    expect(() => nativeRecover({ ecdsaRecover: () => fail('other') })(digest, signature, 0)).toThrow('other');
  });

  it('is held to answers that noble gives', () => {
    expect(selfTestFailure(noblePublicKey)).toBeUndefined();
  });
});

describe('the library of the system', () => {
  if (system === undefined) console.log('skipping libsecp256k1 of the system: not installed, or no Node 26 and no Bun');

  it.skipIf(system === undefined)('gives what noble gives', () => {
    const publicKeyOf = withNobleInDoubt(system as Libsecp256k1, () => {});
    expect(selfTestFailure(publicKeyOf)).toBeUndefined();
    for (const { digest: hash, signature: bytes } of mutatedSignatures(6, 300, 1)) {
      expect(checkedRecovery(publicKeyOf)(hash, bytes)).toEqual(recoverWithNoble(hash, bytes));
    }
  });

  it.skipIf(system === undefined)('gives keys that the next call leaves alone, and null for none', () => {
    const [hash, bytes] = [infinity?.digest, infinity?.signature].map((text) => decodeHex(text ?? '') as Uint8Array);
    const key = system?.(digest, signature.subarray(0, 64), 1);
    expect(system?.(hash as Uint8Array, (bytes as Uint8Array).subarray(0, 64), 0)).toBeNull();
    expect(key).toEqual(goodKey);
  });
});

describe('noble decides in doubt', () => {
  const calls = (failing: () => Uint8Array | null) => {
    let count = 0;
    const publicKeyOf = withNobleInDoubt(
      () => {
        count++;
        return failing();
      },
      () => {},
    );
    return { recover: () => publicKeyOf(digest, signature, 1), count: () => count };
  };

  it.each<[string, () => Uint8Array | null]>([
    [
      'throws',
      () => {
        throw new TypeError('Expected Signature');
      },
    ],
    ['answers a compressed key', () => (goodKey as Uint8Array).slice(0, 33)],
    ['answers a key of another form', () => new Uint8Array(65)],
  ])('when the other %s', (_, failing) => {
    const { recover, count } = calls(failing);
    expect(recover()).toEqual(goodKey);
    expect(recover()).toEqual(goodKey);
    expect(count()).toBe(2);
  });

  it('and the choice says so from then on', async () => {
    let isDoubtful = false;
    const library: Libsecp256k1 = (hash, rs, parity) => (isDoubtful ? new Uint8Array(65) : real(hash, rs, parity));
    const chosen = await chooseRecovery('auto', systemClock, [candidate(async () => library)]);
    expect(chosen.publicKeyOf(digest, signature, 1)).toEqual(goodKey);
    expect(chosen.isWithoutNoble()).toBe(true);
    isDoubtful = true;
    expect(chosen.publicKeyOf(digest, signature, 1)).toEqual(goodKey);
    isDoubtful = false;
    expect(chosen.isWithoutNoble()).toBe(false);
    expect((await chooseRecovery('noble', systemClock)).isWithoutNoble()).toBe(false);
  });

  it('and the choice says so where Keccak fails too', async () => {
    let isFailing = false;
    const keccak256 = (bytes: Uint8Array): Uint8Array => (isFailing ? fail('a trap') : keccak_256(bytes));
    const keccaks = async () => ({ keccak256, notice: undefined });
    const chosen = await chooseRecovery('auto', systemClock, [candidate(async () => real)], keccaks);
    const [struct, bytes] = [new Uint8Array(STRUCT_BYTES), signature];
    const right = recoverWithNoble(digestOf(struct), bytes);
    expect(chosen.recoverSigner(struct, bytes)).toEqual(right);
    expect(chosen.isWithoutNoble()).toBe(true);
    isFailing = true;
    expect(chosen.recoverSigner(struct, bytes)).toEqual(right);
    expect(chosen.isWithoutNoble()).toBe(false);
  });

  it('and the other is not asked again after a trap', () => {
    const { recover, count } = calls(() => {
      throw new WebAssembly.RuntimeError('unreachable');
    });
    for (let i = 0; i < 5; i++) expect(recover()).toEqual(goodKey);
    expect(count()).toBe(1);
  });

  it('but a plain "no key" is taken at its word, so that nobody can buy two recoveries for one', () => {
    const { recover } = calls(() => null);
    expect(recover()).toBeUndefined();
    const [hash, bytes] = [infinity?.digest, infinity?.signature].map((text) => decodeHex(text ?? '') as Uint8Array);
    expect(real(hash as Uint8Array, (bytes as Uint8Array).subarray(0, 64), 0)).toBeNull();
  });
});
