/**
 * The self-test that a recovery library must pass before it replaces noble: signatures by an independent signer (viem), the
 * two kinds of well-formed signature that no key made, and altered signatures, whose addresses noble gave. A test checks noble
 * against the same answers; at start that would take longer than everything else.
 */
import { decodeHex, encodeHex } from '../../base/codec.ts';
import { checkedRecovery, type PublicKeyRecovery, type Recovered } from './signature.ts';

/** Digest, signature and address in hex; an `address` of null means that no key made the signature. */
interface KnownAnswer {
  readonly digest: string;
  readonly signature: string;
  readonly address: string | null;
  readonly what: string;
}

export const KNOWN_ANSWERS: readonly KnownAnswer[] = [
  {
    what: 'key 1, odd y',
    digest: '0x5f051a405f98e44bc22f1679c79d2ddca90e3a696b7aa1b4488eecdc7f9f2335',
    signature:
      '0x714c9249ea3a25a56c1df3dc6ecc364e9c1db99d55d5d3f0f5a97f07a538807a0a1bd290addffff24d8cb9b277abc7abfc780130d3944eb910bed1987245f7e21c',
    address: '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf',
  },
  {
    what: 'key 2, even y, s of almost half the order',
    digest: '0x640f918390c4b67bccb4bcf813c21c477e8fd451b4f43688ad7c965d60cfde17',
    signature:
      '0x2c2829c42126bf7327f6e499960010403241dbbc3f41a5f29f673f105b58864f605bab3142496dcbf46b3367d74cd735c20dbcd81c78ed7e8a7b6f69069171fe1b',
    address: '0x2b5ad5c4795c026514f8317c7a215e218dccd6cf',
  },
  {
    what: 'key 3, even y, large r',
    digest: '0xdb8b70095fa158e1c5e9921f323e914291d08ab9055d20e9f18164183855047c',
    signature:
      '0xf63b723ed9e11cee7e3fd40ee59a8f3b662fc5d1ae123d38e234f7b00faaaf1e1bc13c234da03aa151b272b04b62fd6d3cc5796ebf35f53c7a5dd92cba1993d31b',
    address: '0x6813eb9362372eef6200f3b1dbc3f819671cba69',
  },
  {
    what: 'r is the x of 5G and s that of the key at infinity',
    digest: '0xec3e04ecc082faaf8960919ae287daddf36e8277b8ba496602acff0eec1a0379',
    signature:
      '0x2f8bde4d1a07209355b4a7250a5c5128e88b84bddc619ab7cba8d569b240efe46272cdc8f34d65564eace9ebc6e7f89289391312e19a2eb9f3b312b8bf4340f21b',
    address: null,
  },
  {
    what: 'r is the x of no point',
    digest: '0x5f051a405f98e44bc22f1679c79d2ddca90e3a696b7aa1b4488eecdc7f9f2335',
    signature:
      '0x00000000000000000000000000000000000000000000000000000000000000050a1bd290addffff24d8cb9b277abc7abfc780130d3944eb910bed1987245f7e21c',
    address: null,
  },
];

/** Alterations of the digest, r, s and v: index into digest and signature, side by side, the bits to flip, the answer. */
const CHANGES: readonly (readonly [at: number, bits: number, address: string])[] = [
  [0, 1, '0xdce6e27889bb3ba569fd45f24457953704894e87'],
  [31, 128, '0x465012d8fcc9cd8972089d81e46296fab1fa47f9'],
  [32, 1, '0x5c10675f34103ea5b1d7f944f82a386bc6006690'],
  [63, 1, '0xe3b9f43dd86212c280da72ce54c24d5db50637ff'],
  [64, 2, '0xf7a8d3961d3a89efa7a39a40cbeb009f9eeeb666'],
  [95, 1, '0x18ae2e408b2da1582507d117baea39733f06f3fb'],
  [96, 7, '0xff10daf45123092c43be7b1b73f42453b5551b31'],
];

const bytesOf = (hex: string): Uint8Array => {
  const bytes = decodeHex(hex);
  if (bytes === undefined) throw new Error('not hex');
  return bytes;
};

const textOf = (recovered: Recovered): string => (recovered.ok ? encodeHex(recovered.address) : recovered.reason);

/** Runs the self-test: one line on what `candidate` gets wrong, or undefined. */
export function selfTestFailure(candidate: PublicKeyRecovery): string | undefined {
  const recover = checkedRecovery(candidate);
  for (const { what, digest, signature, address } of KNOWN_ANSWERS) {
    const answer = textOf(recover(bytesOf(digest), bytesOf(signature)));
    if (answer !== (address ?? 'no-key')) return `${what}: ${answer}`;
  }
  const good = KNOWN_ANSWERS.filter(({ address }) => address !== null);
  for (const [i, [at, bits, address]] of CHANGES.entries()) {
    const { what, digest, signature } = good[i % good.length] as KnownAnswer;
    const all = new Uint8Array([...bytesOf(digest), ...bytesOf(signature)]);
    all[at]! ^= bits;
    const answer = textOf(recover(all.subarray(0, 32), all.subarray(32)));
    if (answer !== address) return `${what}, byte ${at} altered: ${answer}, where noble gives ${address}`;
  }
  return undefined;
}
