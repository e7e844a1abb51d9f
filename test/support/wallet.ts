/**
 * Payments of an honest client, signed by an independent implementation (viem), in which a test can change every field.
 */
import { randomBytes } from 'node:crypto';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';

export type Hex = `0x${string}`;

export interface Requirements {
  readonly scheme: string;
  readonly network: string;
  readonly amount: string;
  readonly asset: Hex;
  readonly payTo: Hex;
  readonly maxTimeoutSeconds: number;
  readonly extra: { readonly name: string; readonly version: string };
}

export interface PaymentRequired {
  readonly x402Version: number;
  readonly error: string;
  readonly resource: { readonly url: string; readonly description: string; readonly mimeType: string };
  readonly accepts: readonly Requirements[];
  readonly extensions?: Readonly<Record<string, unknown>>;
}

export interface Authorization {
  readonly from: Hex;
  readonly to: Hex;
  readonly value: string;
  readonly validAfter: string;
  readonly validBefore: string;
  readonly nonce: Hex;
}

export interface Payment {
  readonly x402Version: number;
  readonly payload: { readonly signature: Hex; readonly authorization: Authorization };
  readonly resource: PaymentRequired['resource'];
  readonly accepted: Requirements;
}

export const generatedKey = (): Hex => generatePrivateKey();
export const wallet = (): PrivateKeyAccount => privateKeyToAccount(generatePrivateKey());

export const decodeHeader = <T>(header: string | null): T =>
  JSON.parse(Buffer.from(header ?? '', 'base64').toString('utf8')) as T;

export const encodeHeader = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');

/** The offer in the answer to an unpaid request. */
export async function offerFrom(answer: Response | Promise<Response>): Promise<PaymentRequired> {
  const response = await answer;
  const text = await response.text();
  if (response.status !== 402) throw new Error(`expected an offer, got ${response.status} ${text.slice(0, 200)}`);
  return decodeHeader<PaymentRequired>(response.headers.get('payment-required'));
}

/** The offer of an unpaid request. */
export const offerOf = (url: string, init: RequestInit = {}): Promise<PaymentRequired> => offerFrom(fetch(url, init));

/** The EIP-712 types of an EIP-3009 transfer. */
export const TRANSFER = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

export interface Changes {
  /** Changed before signing, so the signature matches the changed fields. */
  readonly authorization?: Partial<Authorization>;
  /** Changed EIP-712 domain. */
  readonly domain?: { name?: string; version?: string; chainId?: number; verifyingContract?: Hex };
  readonly primaryType?: string;
}

/** A payment for the first entry of an offer. */
export async function paymentFor(
  offer: PaymentRequired,
  account: PrivateKeyAccount,
  changes: Changes = {},
): Promise<Payment> {
  const accepted = offer.accepts[0] as Requirements;
  const authorization: Authorization = {
    from: account.address,
    to: accepted.payTo,
    value: accepted.amount,
    validAfter: '0',
    validBefore: String(Math.floor(Date.now() / 1000) + accepted.maxTimeoutSeconds),
    nonce: `0x${randomBytes(32).toString('hex')}`,
    ...changes.authorization,
  };
  const primaryType = changes.primaryType ?? 'TransferWithAuthorization';
  const signature = await account.signTypedData({
    domain: {
      name: accepted.extra.name,
      version: accepted.extra.version,
      chainId: Number(accepted.network.split(':')[1]),
      verifyingContract: accepted.asset,
      ...changes.domain,
    },
    types: { [primaryType]: TRANSFER.TransferWithAuthorization },
    primaryType,
    message: {
      ...authorization,
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
    },
  } as never);
  return { x402Version: 2, payload: { signature, authorization }, resource: offer.resource, accepted };
}

/** Asks, pays and asks again. */
export const buy = (url: string, account: PrivateKeyAccount = wallet(), init: RequestInit = {}): Promise<Response> =>
  buyOver({ fetch: (target, sent) => fetch(target, sent) }, url, account, init);

/** The same over a transport of the test's choice. */
export async function buyOver(
  transport: { fetch(target: string, init?: RequestInit): Promise<Response> },
  target: string,
  account: PrivateKeyAccount = wallet(),
  init: RequestInit = {},
): Promise<Response> {
  const payment = await paymentFor(await offerFrom(transport.fetch(target, init)), account);
  return transport.fetch(target, { ...init, headers: { ...init.headers, 'PAYMENT-SIGNATURE': encodeHeader(payment) } });
}

/** The order of secp256k1: a signature's `s` has the twin `order - s`. */
export const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

export interface SignatureParts {
  readonly r: bigint;
  readonly s: bigint;
  readonly v: number;
}

export const signatureParts = (signature: Hex): SignatureParts => ({
  r: BigInt(signature.slice(0, 66)),
  s: BigInt(`0x${signature.slice(66, 130)}`),
  v: Number.parseInt(signature.slice(130), 16),
});

export const signatureOf = ({ r, s, v }: SignatureParts): Hex =>
  `0x${r.toString(16).padStart(64, '0')}${s.toString(16).padStart(64, '0')}${v.toString(16).padStart(2, '0')}`;

/** The same payment with changed parts, not signed again. */
export function altered(
  payment: Payment,
  changes: {
    readonly accepted?: Readonly<Record<string, unknown>>;
    readonly authorization?: Readonly<Record<string, unknown>>;
    readonly signature?: unknown;
    readonly envelope?: Readonly<Record<string, unknown>>;
  },
): unknown {
  return {
    ...payment,
    accepted: { ...payment.accepted, ...changes.accepted },
    payload: {
      signature: 'signature' in changes ? changes.signature : payment.payload.signature,
      authorization: { ...payment.payload.authorization, ...changes.authorization },
    },
    ...changes.envelope,
  };
}
