/**
 * The `PAYMENT-SIGNATURE` header: text -> a payment in the shape of x402-v2 §2.4 and §2.5, or the protocol's word for what
 * is wrong with it. Strict: standard base64, UTF-8, JSON of bounded depth, decimal strings. A repeated key counts with its
 * last value; that is safe because nothing of the client's text travels further: what goes to a facilitator is built anew
 * from the fields parsed here and from our own offer (`order.ts`). Unknown keys are ignored.
 *
 * Cost: 8 µs on Node 26 and 5 on Bun 1.4 for a header of 1.1 KB, where the fastest recovery of a signature takes 400; a header
 * over 8 KiB is not looked at.
 */
import { decodeBase64, decodeUtf8Latin1 } from '../../base/codec.ts';
import { isDeeperThan } from '../../base/json-depth.ts';
import { NETWORK, SCHEME, X402_VERSION } from './network.ts';
import type { Reason } from './reasons.ts';

/** The offer that the client says it accepts. Unsigned; only compared with ours. */
export interface AcceptedTerms {
  readonly amount: string;
  readonly asset: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  /** The three keys of `extra` that mean something, whatever their types; undefined = absent. */
  readonly extraName: unknown;
  readonly extraVersion: unknown;
  readonly assetTransferMethod: unknown;
  readonly paymentFlow: unknown;
}

/** EIP-3009 fields as sent: forms not yet checked beyond being text. */
export interface AuthorizationText {
  readonly from: string;
  readonly to: string;
  readonly value: string;
  readonly validAfter: string;
  readonly validBefore: string;
  readonly nonce: string;
}

export interface Payment {
  readonly accepted: AcceptedTerms;
  readonly authorization: AuthorizationText;
  /** As sent, form not yet checked. */
  readonly signature: string;
  /** `resource.url` as echoed by the client, or undefined. Unsigned. */
  readonly resourceUrl: string | undefined;
  /** True when the client echoed `extensions.bazaar`, which asks for the route to be listed. */
  readonly echoesBazaar: boolean;
}

/** A payment that is not acceptable: the protocol's word, and a sentence for a person. Neither repeats the client's text. */
export interface PaymentFault {
  readonly ok: false;
  readonly error: Reason;
  readonly message: string;
}

export type DecodedPayment = { readonly ok: true; readonly payment: Payment } | PaymentFault;

export function fault(error: Reason, message: string): PaymentFault {
  return { ok: false, error, message };
}

/** Decisions §4. */
export const HEADER_LENGTH_MAX = 8192;
/** Arrays and objects inside one another. The official client nests 8 deep with a Bazaar schema echoed; our own schemas stay below 20. */
const DEPTH_MAX = 64;

type Fields = Readonly<Record<string, unknown>>;

/**
 * JSON objects only. Keys such as `__proto__` are own properties after JSON.parse, and no name read here exists on
 * Object.prototype, so a plain read sees what was sent and nothing else.
 */
function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

const malformed = (message: string): PaymentFault => fault('invalid_payload', message);

const AUTHORIZATION_KEYS = ['from', 'to', 'value', 'validAfter', 'validBefore', 'nonce'] as const;
/** Payloads of Permit2 and ERC-7710, which a facilitator would route to other checks whatever was offered (§4.4). */
const OTHER_PAYLOAD_KEYS = ['permit2Authorization', 'delegationManager', 'permissionContext', 'delegator'] as const;

/** Wrapped, so that no key of the client's can pass for a verdict of ours. */
function decodeJson(header: string): { readonly ok: true; readonly fields: Fields } | PaymentFault {
  if (header.length > HEADER_LENGTH_MAX)
    return malformed(`PAYMENT-SIGNATURE is longer than ${HEADER_LENGTH_MAX} bytes.`);
  const bytes = decodeBase64(header);
  if (bytes === undefined) return malformed('PAYMENT-SIGNATURE is not standard base64.');
  const text = decodeUtf8Latin1(bytes);
  if (text === undefined) return malformed('PAYMENT-SIGNATURE is not UTF-8 inside.');
  if (isDeeperThan(DEPTH_MAX, text)) return malformed(`PAYMENT-SIGNATURE nests deeper than ${DEPTH_MAX} levels.`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return malformed('PAYMENT-SIGNATURE is not JSON inside.');
  }
  const fields = fieldsOf(value);
  return fields === undefined ? malformed('PAYMENT-SIGNATURE is not a JSON object inside.') : { ok: true, fields };
}

function acceptedOf(value: unknown): AcceptedTerms | PaymentFault {
  const accepted = fieldsOf(value);
  if (accepted === undefined) return malformed('`accepted` must be the chosen entry of the offer.');
  const { scheme, network, amount, asset, payTo, maxTimeoutSeconds } = accepted;
  if (typeof scheme !== 'string') return malformed('`accepted.scheme` must be text.');
  if (scheme !== SCHEME) return fault('unsupported_scheme', `Only the scheme ${SCHEME} is accepted.`);
  if (typeof network !== 'string') return malformed('`accepted.network` must be text.');
  if (network !== NETWORK) return fault('invalid_network', `Only the network ${NETWORK} is accepted.`);
  const mismatch = (message: string) => fault('invalid_payment_requirements', message);
  if (typeof amount !== 'string') return mismatch('`accepted.amount` must be decimal text.');
  if (typeof asset !== 'string') return mismatch('`accepted.asset` must be an address.');
  if (typeof payTo !== 'string') return mismatch('`accepted.payTo` must be an address.');
  if (typeof maxTimeoutSeconds !== 'number') return mismatch('`accepted.maxTimeoutSeconds` must be a number.');
  const extra = accepted.extra === undefined ? {} : fieldsOf(accepted.extra);
  if (extra === undefined) return mismatch('`accepted.extra` must be an object.');
  const { name, version, assetTransferMethod, paymentFlow } = extra;
  return {
    amount,
    asset,
    payTo,
    maxTimeoutSeconds,
    extraName: name,
    extraVersion: version,
    assetTransferMethod,
    paymentFlow,
  };
}

export function decodePayment(header: string): DecodedPayment {
  const decoded = decodeJson(header);
  if (!decoded.ok) return decoded;
  const envelope = decoded.fields;
  if (envelope.x402Version !== X402_VERSION) {
    return fault('invalid_x402_version', `x402Version must be the number ${X402_VERSION}.`);
  }
  const accepted = acceptedOf(envelope.accepted);
  if ('ok' in accepted) return accepted;

  const payload = fieldsOf(envelope.payload);
  if (payload === undefined) return malformed('`payload` must be an object.');
  for (const key of OTHER_PAYLOAD_KEYS) {
    if (payload[key] !== undefined) {
      return fault('unsupported_payload_type', 'Only EIP-3009 authorizations are accepted.');
    }
  }
  const { signature } = payload;
  if (typeof signature !== 'string') return malformed('`payload.signature` must be text.');
  const fields = fieldsOf(payload.authorization);
  if (fields === undefined) return malformed('`payload.authorization` must be an object.');
  for (const key of AUTHORIZATION_KEYS) {
    if (typeof fields[key] !== 'string') return malformed(`\`payload.authorization.${key}\` must be text.`);
  }

  let resourceUrl: string | undefined;
  if (envelope.resource !== undefined) {
    const url = fieldsOf(envelope.resource)?.url;
    if (typeof url !== 'string') return malformed('`resource` must be an object with a url.');
    resourceUrl = url;
  }
  const extensions = envelope.extensions === undefined ? {} : fieldsOf(envelope.extensions);
  if (extensions === undefined) return malformed('`extensions` must be an object.');
  return {
    ok: true,
    payment: {
      accepted,
      authorization: fields as unknown as AuthorizationText,
      signature,
      resourceUrl,
      echoesBazaar: fieldsOf(extensions.bazaar) !== undefined,
    },
  };
}
