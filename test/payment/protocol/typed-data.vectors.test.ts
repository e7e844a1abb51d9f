/** EIP-712, EIP-3009 and secp256k1 against published values and an independent signer. */
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hashDomain, hashTypedData } from 'viem';
import { describe, expect, it } from 'vitest';
import { decodeHex, encodeHex } from '../../../src/base/codec.ts';
import { decodePayment } from '../../../src/payment/protocol/envelope.ts';
import { BASE, BASE_SEPOLIA, checksummed, parseAddress } from '../../../src/payment/protocol/network.ts';
import { digestOf, structOf } from '../../../src/payment/protocol/typed-data.ts';
import { recoverWithNoble } from '../../../src/payment/signature/noble-recovery.ts';
import { type Hex, TRANSFER } from '../../support/wallet.ts';

const bytes = (hex: string): Uint8Array => {
  const decoded = decodeHex(hex);
  if (decoded === undefined) throw new Error('bad vector');
  return decoded;
};

const FROM = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const MESSAGE = {
  from: FROM,
  to: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
  value: 10000n,
  validAfter: 0n,
  validBefore: 1795218581n,
  nonce: '0x0e1d442d9f9a642facb4a23c473dded97c0fda873053d78d9e5dfe61c93eb65a',
};
const DIGEST = '0xc85c8feda4430e6781b7a60005bca3386f5d31034fdb7cae61d648632915fe88';
const SIGNATURE =
  '0x643fcfee2db71ee2ab4abf85b6e76ecf518f032d80b30f0d95e5d3d38545594e0becd0da1bf714f4431d3ad66eec4a5246077f8cca077f4f5b26b5de1bfcdb3d1b';

/** A PAYMENT-SIGNATURE that the official client 2.27.0 sent. */
const OFFICIAL_HEADER =
  'eyJ4NDAyVmVyc2lvbiI6MiwicGF5bG9hZCI6eyJhdXRob3JpemF0aW9uIjp7ImZyb20iOiIweDcwOTk3OTcwQzUxODEyZGMzQTAxMEM3ZDAxYjUwZTBkMTdkYzc5QzgiLCJ0byI6IjB4MjA5NjkzQmM2YWZjMEM1MzI4YkEzNkZhRjAzQzUxNEVGMzEyMjg3QyIsInZhbHVlIjoiMTAwMDAiLCJ2YWxpZEFmdGVyIjoiMCIsInZhbGlkQmVmb3JlIjoiMTc5NTIxODk0MiIsIm5vbmNlIjoiMHgyODIzMGM4Zjc4MWM1NDA0NDc0ODA1OTQ1MzNjNDM1MGRmY2YxOTg5NGNjMjU0YzJkZGQ5NzMxMmY1NTQxN2FkIn0sInNpZ25hdHVyZSI6IjB4MjVmMzg1OTYyMGYyYTQ2ZTdhYmI0ZWE3ODBkYWNhZmVhOGNkMThjMTFjZGU4NTY4MDllN2ZkNTA4YmZmOGViMzExNjg0ODE5NmU1NWU4NDA1MjczNTBmNmMwZWNhNjZlNTE5YWZkY2VkNzMxZjhlMjM3NzJkZTlmY2M4ODBmNWExYiJ9LCJyZXNvdXJjZSI6eyJ1cmwiOiJodHRwczovL2FwaS5leGFtcGxlLmNvbS9xdW90ZSIsImRlc2NyaXB0aW9uIjoiT25lIHF1b3RlIiwibWltZVR5cGUiOiJhcHBsaWNhdGlvbi9qc29uIn0sImFjY2VwdGVkIjp7InNjaGVtZSI6ImV4YWN0IiwibmV0d29yayI6ImVpcDE1NTo4NDUzIiwiYW1vdW50IjoiMTAwMDAiLCJhc3NldCI6IjB4ODMzNTg5ZkNENmVEYjZFMDhmNGM3QzMyRDRmNzFiNTRiZEEwMjkxMyIsInBheVRvIjoiMHgyMDk2OTNCYzZhZmMwQzUzMjhiQTM2RmFGMDNDNTE0RUYzMTIyODdDIiwibWF4VGltZW91dFNlY29uZHMiOjYwLCJleHRyYSI6eyJuYW1lIjoiVVNEIENvaW4iLCJ2ZXJzaW9uIjoiMiJ9fX0=';

describe('typed data of USDC', () => {
  it('has the domain separator of the token contract', () => {
    expect(encodeHex(structOf(MESSAGE, BASE).subarray(0, 32))).toBe(
      '0x02fa7265e7c5d81118673727957699e4d68f74cd74b7db77da710fe8a2c7834f',
    );
  });

  it('has the name of the token on the test network in that of Base Sepolia', () => {
    expect(encodeHex(structOf(MESSAGE, BASE_SEPOLIA).subarray(0, 32))).toBe(
      hashDomain({
        domain: {
          name: 'USDC',
          version: '2',
          chainId: 84532n,
          verifyingContract: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
        },
        types: {
          EIP712Domain: [
            { name: 'name', type: 'string' },
            { name: 'version', type: 'string' },
            { name: 'chainId', type: 'uint256' },
            { name: 'verifyingContract', type: 'address' },
          ],
        },
      }),
    );
  });

  it.each([BASE, BASE_SEPOLIA])('has the digest of an independent signer on $name', (network) => {
    const types = TRANSFER;
    const domain = {
      name: network.usdcName,
      version: network.usdcVersion,
      chainId: Number(network.id.split(':')[1]),
      verifyingContract: network.usdc as Hex,
    };
    const message = { ...MESSAGE, from: FROM as Hex, to: MESSAGE.to as Hex, nonce: MESSAGE.nonce as Hex };
    const digest = hashTypedData({ domain, types, primaryType: 'TransferWithAuthorization', message });
    expect(encodeHex(digestOf(structOf(MESSAGE, network)))).toBe(digest);
  });

  it('has the published digest, whatever was hashed before', () => {
    digestOf(structOf({ ...MESSAGE, value: 2n ** 256n - 1n, validAfter: 2n ** 255n, validBefore: 2n ** 64n }, BASE));
    expect(encodeHex(digestOf(structOf(MESSAGE, BASE)))).toBe(DIGEST);
    expect(encodeHex(digestOf(structOf({ ...MESSAGE, from: FROM.toLowerCase() }, BASE)))).toBe(DIGEST);
  });

  it('throws for a field that is not what it is declared as', () => {
    expect(() => structOf({ ...MESSAGE, nonce: '0x00' }, BASE)).toThrow();
    expect(() => structOf({ ...MESSAGE, from: FROM.slice(0, 41).concat('g') }, BASE)).toThrow();
  });
});

describe('recovery', () => {
  const recovered = (signature: Uint8Array, digest: Uint8Array = bytes(DIGEST)) => recoverWithNoble(digest, signature);

  it('finds the payer of the published signature', () => {
    const result = recovered(bytes(SIGNATURE));
    expect(result.ok && checksummed(encodeHex(result.address))).toBe(FROM);
  });

  it('finds the payer in a header of the official client', () => {
    const decoded = decodePayment(OFFICIAL_HEADER, BASE.id);
    if (!decoded.ok) throw new Error(decoded.message);
    const { from, to, value, validAfter, validBefore, nonce } = decoded.payment.authorization;
    const message = {
      from,
      to,
      value: BigInt(value),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
    };
    const result = recovered(bytes(decoded.payment.signature), digestOf(structOf({ ...message, nonce }, BASE)));
    expect(result.ok && encodeHex(result.address)).toBe(from.toLowerCase());
  });

  const n = secp256k1.Point.Fn.ORDER;
  const word = (value: bigint): string => value.toString(16).padStart(64, '0');
  const r = SIGNATURE.slice(2, 66);
  const s = SIGNATURE.slice(66, 130);
  const half = n / 2n;
  const REFUSED: readonly [string, string, string, string, string][] = [
    ['r = 0', word(0n), s, '1b', 'r-range'],
    ['r = n', word(n), s, '1b', 'r-range'],
    ['r = n + 1', word(n + 1n), s, '1b', 'r-range'],
    ['r = 2^256 - 1', word(2n ** 256n - 1n), s, '1b', 'r-range'],
    ['s = 0', r, word(0n), '1b', 's-range'],
    ['s = n', r, word(n), '1b', 's-range'],
    ['s = 2^256 - 1', r, word(2n ** 256n - 1n), '1b', 's-range'],
    ['the high-s twin', r, word(n - BigInt(`0x${s}`)), '1c', 's-range'],
    ['s one above half the order', r, word(half + 1n), '1b', 's-range'],
    ['r that is no x of a point', word(5n), s, '1b', 'no-key'],
    ...['00', '01', '02', '1a', '1d', '23', 'ff'].map((v): [string, string, string, string, string] => [
      `v = 0x${v}`,
      r,
      s,
      v,
      'v',
    ]),
    ['64 bytes', r, s, '', 'length'],
    ['66 bytes', r, s, '1b00', 'length'],
    ['no bytes', '', '', '', 'length'],
  ];
  it.each(REFUSED)('refuses %s without throwing', (_, rHex, sHex, v, reason) => {
    expect(recovered(bytes(`0x${rHex}${sHex}${v}`))).toEqual({ ok: false, reason });
  });

  it.each([1n, half])('takes s = %s as in range', (value) => {
    const result = recovered(bytes(`0x${r}${word(value)}1b`));
    expect(result.ok).toBe(true); // some key, not the payer's
  });

  it('finds another signer when v is the other one or the digest is hashed again', () => {
    const other = recovered(bytes(`0x${r}${s}1c`));
    expect(other.ok && encodeHex(other.address)).not.toBe(FROM.toLowerCase());
  });
});

describe('addresses', () => {
  // EIP-55's own examples.
  const EXAMPLES = [
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
    '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
    '0x52908400098527886E0F7030069857D2E4169EE7',
    '0xde709f2102306220921060314715629080e2fb77',
  ];
  it.each(EXAMPLES)('%s is its own checksum, and its one-case spellings mean it', (address) => {
    expect(parseAddress(address)).toBe(address);
    expect(parseAddress(address.toLowerCase())).toBe(address);
    expect(parseAddress(`0x${address.slice(2).toUpperCase()}`)).toBe(address);
  });

  it.each([
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD',
    '5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe',
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAedd',
    '0X5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    ' 0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '',
  ])('%j is no address of an operator', (text) => {
    expect(parseAddress(text)).toBeUndefined();
  });
});
