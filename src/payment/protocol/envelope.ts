/**
 * Decodes the `PAYMENT-SIGNATURE` header into a payment payload (x402-v2 §2.4 and §2.5), or names the fault with the
 * protocol's code. Decoding is strict: standard base64, UTF-8, JSON of bounded depth, decimal strings. The last value of a
 * repeated key counts. That is safe because none of the client's text travels further: `order.ts` builds the body for a
 * facilitator from the fields parsed here and from our own offer. Unknown keys are ignored.
 *
 * Cost: about a fiftieth of the fastest signature recovery (`bench/verification.ts`); a header over 8 KiB is refused unread.
 */
import { decodeBase64, decodeUtf8Latin1 } from '../../base/codec.ts';
import { isDeeperThan } from '../../base/json-depth.ts';
import { type JsonObject, objectOf, parseJson } from '../../base/json-value.ts';
import { IDENTIFIER_RULE, PAYMENT_IDENTIFIER, type PaymentIdentifier, parsePaymentIdentifier } from './identifier.ts';
import { type NetworkId, SCHEME, X402_VERSION } from './network.ts';
import type { Reason } from './reasons.ts';

/** The requirements that the client says it accepts. Unsigned, and only compared with ours. */
export interface AcceptedTerms {
  readonly amount: string;
  readonly asset: string;
  readonly payTo: string;
  readonly maxTimeoutSeconds: number;
  /** The keys of `extra` that mean something, as sent and of any type; undefined = absent. */
  readonly extraName: unknown;
  readonly extraVersion: unknown;
  readonly assetTransferMethod: unknown;
  readonly paymentFlow: unknown;
}

/** The EIP-3009 fields as sent: known to be text, not checked further. */
export interface AuthorizationText {
  readonly from: string;
  readonly to: string;
  readonly value: string;
  readonly validAfter: string;
  readonly validBefore: string;
  readonly nonce: string;
}

/** The payment payload: what a client sends to pay for one answer. */
export interface PaymentPayload {
  readonly accepted: AcceptedTerms;
  readonly authorization: AuthorizationText;
  /** As sent; its form is not checked yet. */
  readonly signature: string;
  /** `resource.url` as the client echoed it, or undefined. Unsigned. */
  readonly resourceUrl: string | undefined;
  /** True when the client echoed `extensions.bazaar`, which asks the facilitator to list the route. */
  readonly echoesBazaar: boolean;
  /** The client's own name for this purchase; undefined = it gave none. Unsigned. */
  readonly identifier: PaymentIdentifier | undefined;
}

/** Why a payment is refused: the protocol's code, and a sentence for people. Neither repeats the client's text. */
export interface PaymentFault {
  readonly ok: false;
  readonly error: Reason;
  readonly message: string;
}

export type DecodedPayment = { readonly ok: true; readonly payment: PaymentPayload } | PaymentFault;

export function fault(error: Reason, message: string): PaymentFault {
  return { ok: false, error, message };
}

/** Characters of the header (decisions §4). */
export const HEADER_LENGTH_MAX = 8192;
/** Nested arrays and objects. The official client nests 8 deep when it echoes a Bazaar schema; our own schemas stay below 20. */
const DEPTH_MAX = 64;

const malformed = (message: string): PaymentFault => fault('invalid_payload', message);

/** The client accepted other terms than ours. */
export const mismatch = (message: string): PaymentFault => fault('invalid_payment_requirements', message);

const AUTHORIZATION_KEYS = ['from', 'to', 'value', 'validAfter', 'validBefore', 'nonce'] as const;
/** Keys of Permit2 and ERC-7710 payloads, which a facilitator would check by other rules than ours (x402-v2 §4.4). */
const OTHER_PAYLOAD_KEYS = ['permit2Authorization', 'delegationManager', 'permissionContext', 'delegator'] as const;

/** Wraps the fields, so that a client's key named `ok` cannot pass for our own verdict. */
function decodeJson(header: string): { readonly ok: true; readonly fields: JsonObject } | PaymentFault {
  if (header.length > HEADER_LENGTH_MAX)
    return malformed(`PAYMENT-SIGNATURE is longer than ${HEADER_LENGTH_MAX} bytes.`);
  const bytes = decodeBase64(header);
  if (bytes === undefined) return malformed('PAYMENT-SIGNATURE is not standard base64.');
  const text = decodeUtf8Latin1(bytes);
  if (text === undefined) return malformed('PAYMENT-SIGNATURE does not decode to UTF-8 text.');
  if (isDeeperThan(DEPTH_MAX, text)) return malformed(`PAYMENT-SIGNATURE nests deeper than ${DEPTH_MAX} levels.`);
  const value = parseJson(text);
  if (value === undefined) return malformed('PAYMENT-SIGNATURE does not decode to JSON.');
  const fields = objectOf(value);
  return fields === undefined ? malformed('PAYMENT-SIGNATURE does not decode to a JSON object.') : { ok: true, fields };
}

function acceptedOf(value: unknown, ourNetwork: NetworkId): AcceptedTerms | PaymentFault {
  const accepted = objectOf(value);
  if (accepted === undefined) return malformed('`accepted` must be the chosen entry of `accepts`.');
  const { scheme, network, amount, asset, payTo, maxTimeoutSeconds } = accepted;
  if (typeof scheme !== 'string') return malformed('`accepted.scheme` must be text.');
  if (scheme !== SCHEME) return fault('unsupported_scheme', `This server accepts the scheme ${SCHEME} only.`);
  if (typeof network !== 'string') return malformed('`accepted.network` must be text.');
  if (network !== ourNetwork) {
    return fault('invalid_network', `This server accepts the network ${ourNetwork} only.`);
  }
  if (typeof amount !== 'string') return mismatch('`accepted.amount` must be decimal text.');
  if (typeof asset !== 'string') return mismatch('`accepted.asset` must be an address.');
  if (typeof payTo !== 'string') return mismatch('`accepted.payTo` must be an address.');
  if (typeof maxTimeoutSeconds !== 'number') return mismatch('`accepted.maxTimeoutSeconds` must be a number.');
  const extra = accepted.extra === undefined ? {} : objectOf(accepted.extra);
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

/** The identifier, where the client added one to the extension that every offer declares. */
function identifierOf(extensions: JsonObject): PaymentIdentifier | PaymentFault | undefined {
  const extension = extensions[PAYMENT_IDENTIFIER];
  if (extension === undefined) return undefined;
  const info = objectOf(objectOf(extension)?.info);
  if (info === undefined) return malformed(`\`extensions.${PAYMENT_IDENTIFIER}.info\` must be an object.`);
  if (info.id === undefined) return undefined;
  return (
    parsePaymentIdentifier(info.id) ?? malformed(`\`extensions.${PAYMENT_IDENTIFIER}.info.id\`: ${IDENTIFIER_RULE}.`)
  );
}

/** Decodes the header; never throws. The forms of addresses, numbers and signature are left to `checkPayment`. */
export function decodePayment(header: string, network: NetworkId): DecodedPayment {
  const decoded = decodeJson(header);
  if (!decoded.ok) return decoded;
  const envelope = decoded.fields;
  if (envelope.x402Version !== X402_VERSION) {
    return fault('invalid_x402_version', `x402Version must be the number ${X402_VERSION}.`);
  }
  const accepted = acceptedOf(envelope.accepted, network);
  if ('ok' in accepted) return accepted;

  const payload = objectOf(envelope.payload);
  if (payload === undefined) return malformed('`payload` must be an object.');
  for (const key of OTHER_PAYLOAD_KEYS) {
    if (payload[key] !== undefined) {
      return fault('unsupported_payload_type', 'This server accepts EIP-3009 authorizations only.');
    }
  }
  const { signature } = payload;
  if (typeof signature !== 'string') return malformed('`payload.signature` must be text.');
  const fields = objectOf(payload.authorization);
  if (fields === undefined) return malformed('`payload.authorization` must be an object.');
  for (const key of AUTHORIZATION_KEYS) {
    if (typeof fields[key] !== 'string') return malformed(`\`payload.authorization.${key}\` must be text.`);
  }

  let resourceUrl: string | undefined;
  if (envelope.resource !== undefined) {
    const url = objectOf(envelope.resource)?.url;
    if (typeof url !== 'string') return malformed('`resource` must be an object with a url.');
    resourceUrl = url;
  }
  const extensions = envelope.extensions === undefined ? {} : objectOf(envelope.extensions);
  if (extensions === undefined) return malformed('`extensions` must be an object.');
  const identifier = identifierOf(extensions);
  if (typeof identifier === 'object') return identifier;
  return {
    ok: true,
    payment: {
      accepted,
      authorization: fields as unknown as AuthorizationText,
      signature,
      resourceUrl,
      echoesBazaar: objectOf(extensions.bazaar) !== undefined,
      identifier,
    },
  };
}
