/**
 * Signatures with something wrong (or nothing), for comparing two recoveries: every byte position, the edges of r, s and v
 * crossed with each other over digests at their edges, points at infinity, other lengths. Seeded; each has a number.
 */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { Chance } from '../../support/chance.ts';

export interface Candidate {
  readonly number: number;
  readonly digest: Uint8Array;
  readonly signature: Uint8Array;
  /** Which kind it is, for the message of a failure and for counting. */
  readonly kind: string;
}

const FIELD = secp256k1.Point.Fp.ORDER;
const ORDER = secp256k1.Point.Fn.ORDER;
const HALF = ORDER >> 1n;
const MAX = 2n ** 256n - 1n;

const bytesOf = (value: bigint): Uint8Array =>
  Uint8Array.from(Buffer.from(value.toString(16).padStart(64, '0'), 'hex'));
const numberOf = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString('hex')}`);

const join = (r: bigint, s: bigint, v: number): Uint8Array => new Uint8Array([...bytesOf(r), ...bytesOf(s), v]);

const V_VALUES = [0, 1, 2, 26, 27, 28, 29, 30, 31, 255];
const R_EDGES = [
  0n,
  1n,
  2n,
  FIELD - ORDER - 1n,
  FIELD - ORDER,
  FIELD - ORDER + 1n,
  HALF,
  ORDER - 1n,
  ORDER,
  ORDER + 1n,
];
const MORE_R_EDGES = [FIELD - 1n, FIELD, MAX];
const S_EDGES = [0n, 1n, HALF - 1n, HALF, HALF + 1n, ORDER - 1n, ORDER, ORDER + 1n, MAX];
const DIGEST_EDGES = [0n, 1n, ORDER - 1n, ORDER, MAX];

interface Signed {
  readonly digest: Uint8Array;
  readonly signature: Uint8Array;
}

/** As a wallet signs: low s, v 27 or 28. */
function signed(random: Chance): Signed {
  const digest = random.bytes(32);
  const bytes = secp256k1.sign(digest, bytesOf((numberOf(random.bytes(32)) % (ORDER - 1n)) + 1n), {
    prehash: false,
    format: 'recovered',
  });
  return { digest, signature: new Uint8Array([...bytes.subarray(1), 27 + bytes[0]!]) };
}

/** r is the x of k·G and s = z/k: what would be recovered is the point at infinity, which is no key. */
function atInfinity(random: Chance): Signed {
  const k = (numberOf(random.bytes(16)) % 1_000_000n) + 1n;
  const point = secp256k1.Point.BASE.multiply(k).toAffine();
  const digest = random.bytes(32);
  const s = secp256k1.Point.Fn.div(numberOf(digest) % ORDER, k);
  const isLow = s <= HALF;
  const isOdd = (point.y & 1n) === 1n;
  // The twin of a high s belongs to the point's mirror image.
  return { digest, signature: join(point.x, isLow ? s : ORDER - s, isOdd === isLow ? 28 : 27) };
}

/** All edges of r, s and v crossed: about 6,000, of which most are refused for their form. */
function* edges(random: Chance): Generator<Signed> {
  for (const z of [...DIGEST_EDGES.map(bytesOf), random.bytes(32)]) {
    const real = signed(random).signature;
    const [realR, realS] = [numberOf(real.subarray(0, 32)), numberOf(real.subarray(32, 64))];
    for (const r of [...R_EDGES, ...MORE_R_EDGES, realR]) {
      for (const s of [...S_EDGES, realS, ORDER - realS]) {
        for (const v of V_VALUES) yield { digest: z, signature: join(r, s, v) };
      }
    }
  }
}

/** `count` of them: the edges first, each `stride`-th, then changed and unchanged ones in turn. */
export function* mutatedSignatures(seed: number, count: number, stride = 1): Generator<Candidate> {
  const random = new Chance(seed);
  let number = 0;
  let place = 0;
  for (const one of edges(random)) {
    if (place++ % stride !== 0) continue;
    if (number >= count) return;
    yield { ...one, number: number++, kind: 'edge' };
  }
  let base = signed(random);
  while (number < count) {
    const turn = number % 16;
    if (turn === 0) base = signed(random);
    const signature = base.signature.slice();
    const digest = base.digest.slice();
    let kind = 'byte';
    if (turn === 1) kind = 'unchanged';
    else if (turn === 2) {
      yield { ...atInfinity(random), number: number++, kind: 'infinity' };
      continue;
    } else if (turn === 3) {
      kind = 'length';
      const changed = random.below(2) === 0 ? signature.subarray(0, random.below(65)) : new Uint8Array(66).fill(27);
      yield { digest, signature: changed, number: number++, kind };
      continue;
    } else if (turn === 4) {
      kind = 'twin';
      signature.set(bytesOf(ORDER - numberOf(signature.subarray(32, 64))), 32);
      signature[64]! ^= 7; // 27 <-> 28
    } else if (turn === 5) {
      kind = 'v';
      signature[64] = V_VALUES[random.below(V_VALUES.length)]!;
    } else if (turn === 6) {
      kind = 'digest';
      digest[random.below(32)]! ^= 1 + random.below(255);
    } else {
      // Each of the first 64 bytes in its turn; a changed v is refused for its form.
      signature[Math.floor(number / 16) % 64]! ^= 1 + random.below(255);
    }
    yield { digest, signature, number: number++, kind };
  }
}
