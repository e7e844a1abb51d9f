/**
 * The offer of a route: the `PaymentRequired` object of x402-v2 §2.1, prepared once per route. Only the query of
 * `resource.url` varies between requests, so the header is a constant prefix, the encoded query and a constant suffix. Prefix
 * and query are padded with spaces (white space between JSON tokens) to multiples of three bytes, where base64 can be split.
 *
 * Cost: an offer with a query takes a small fraction of the time of stringifying and encoding the object, and one without a
 * query nothing (`bench/offer.ts`).
 */
import { encodeBase64, encodeUtf8 } from '../../base/codec.ts';
import { usdcAtomicOf } from './amount.ts';
import { IDENTIFIER_DECLARATION, PAYMENT_IDENTIFIER } from './identifier.ts';
import { type Address, MAX_TIMEOUT_SECONDS, type Network, type NetworkId, SCHEME, X402_VERSION } from './network.ts';
import { CHALLENGE_ERROR_LENGTH_MAX, type ChallengeError, HEADER_REQUIRED } from './reasons.ts';

/** Payment requirements: one entry of `accepts` (x402-v2 §2.2), sent to a facilitator unchanged. */
export interface PaymentRequirements {
  readonly scheme: typeof SCHEME;
  readonly network: NetworkId;
  /** Atomic units, decimal. */
  readonly amount: string;
  readonly asset: Address;
  readonly payTo: Address;
  readonly maxTimeoutSeconds: number;
  readonly extra: { readonly name: string; readonly version: string };
}

/** What is paid for (x402-v2 §2.3). */
export interface ResourceInfo {
  readonly url: string;
  readonly description: string;
  readonly mimeType: string;
  readonly serviceName: string;
}

export type Extensions = Readonly<Record<string, unknown>>;

/** An offer as it is sent for one request. */
export interface Challenge {
  /** The value of `PAYMENT-REQUIRED`. */
  readonly header: string;
  /** Members for the JSON body of the 402 (decisions §4): text that begins with a comma, in pieces. */
  readonly members: readonly string[];
}

export interface Offer {
  /** Our own entry. Every check and every facilitator call uses it, never the client's copy. */
  readonly requirements: PaymentRequirements;
  readonly amountAtomic: bigint;
  readonly network: Network;
  /** Its `url` is canonical and has no query. */
  readonly resource: ResourceInfo;
  /** `bazaar` alone, which a listed order repeats to the facilitator; undefined where it must not be listed. */
  readonly extensions: Extensions | undefined;
  /** All extensions, as clients see them. */
  readonly declared: Extensions;
  /**
   * @param search the request's query with its `?`, or the empty string; above 1 KiB the URL omits it
   * @param error the protocol's code for why the client must pay, or pay again
   */
  challenge(search: string, error?: ChallengeError): Challenge;
}

/** What an offer is made from. */
export interface OfferTerms {
  /** Public origin and path prefix without a trailing slash, from the settings and never from the request's Host. */
  readonly baseUrl: string;
  readonly path: string;
  readonly description: string;
  readonly priceUsdc: string;
  readonly network: Network;
  readonly payTo: Address;
  /** `extensions.bazaar` (x402-v2 §7); undefined for a route that facilitators must not list. */
  readonly bazaar: unknown;
  readonly serviceName: string;
}

/** The URL omits a longer query (x402-v2 §1.8). */
export const SEARCH_BYTES_MAX = 1024;
/** Largest encoded offer; proxies refuse response headers above 4 to 8 KiB (x402-v2 §1.3). */
export const OFFER_HEADER_BYTES_MAX = 6144;
/** The CDP facilitator refuses every payment for a longer description (x402-v2 §2.3). */
export const DESCRIPTION_LENGTH_MAX = 500;
const SERVICE_NAME_FORM = /^[\x20-\x7e]{1,32}$/;

/** A query of characters that need no escape in a URL nor in JSON text. */
const PLAIN_SEARCH = /^[!#-;=?-[\]_a-z~]*$/;
const NOT_PLAIN = /[^!#-;=?-[\]_a-z~]/gu;

/** Percent-encodes characters that a lenient runtime let through raw; a query that is too long becomes the empty string. */
function searchInUrl(search: string): string {
  if (search.length > SEARCH_BYTES_MAX) return '';
  if (PLAIN_SEARCH.test(search)) return search;
  const encoded = search.toWellFormed().replace(NOT_PLAIN, encodeURIComponent);
  return encoded.length > SEARCH_BYTES_MAX ? '' : encoded;
}

const JSON_PADDING = ['', '  ', ' '] as const;

/** Spaces that pad `byteCount` to a multiple of three. */
const paddingFor = (byteCount: number): string => JSON_PADDING[byteCount % 3]!;

const base64SizeOf = (byteCount: number): number => Math.ceil(byteCount / 3) * 4;

/** Prefix of the description of every offer that is paid with play money (decisions §4). */
export const PLAY_MARK = '[play money]';

/** An offer that does not fit into its header. */
export class OversizedOfferError extends Error {
  override readonly name = 'OversizedOfferError';
}

/** @throws Error naming the route and the fault */
function fail(path: string, reason: string): never {
  throw new Error(`offer of ${path}: ${reason}`);
}

/**
 * Checks the terms of an offer.
 * @returns the price in atomic units, above zero
 * @throws Error naming the route and the fault in its terms
 */
function checkedPriceOf({ baseUrl, path, description, priceUsdc, serviceName }: OfferTerms): bigint {
  const url = `${baseUrl}${path}`;
  if (!URL.canParse(url) || /[?#"\\\s]/.test(url)) fail(path, `${url} is not a plain absolute URL`);
  const amountAtomic = usdcAtomicOf(priceUsdc);
  if (amountAtomic === undefined) fail(path, `the price ${JSON.stringify(priceUsdc)} is not an amount in USDC`);
  if (amountAtomic === 0n) fail(path, 'the price is zero');
  if (description.length > DESCRIPTION_LENGTH_MAX) {
    fail(path, `the description has ${description.length} characters, at most ${DESCRIPTION_LENGTH_MAX} are allowed`);
  }
  if (!SERVICE_NAME_FORM.test(serviceName)) {
    fail(path, `${JSON.stringify(serviceName)} is not 1 to 32 characters of printable ASCII`);
  }
  return amountAtomic;
}

const requirementsOf = (network: Network, payTo: Address, amountAtomic: bigint): PaymentRequirements =>
  Object.freeze({
    scheme: SCHEME,
    network: network.id,
    amount: String(amountAtomic),
    asset: network.usdc,
    payTo,
    maxTimeoutSeconds: MAX_TIMEOUT_SECONDS,
    extra: Object.freeze({ name: network.usdcName, version: network.usdcVersion }),
  });

const resourceOf = ({ description, serviceName }: OfferTerms, url: string): ResourceInfo =>
  Object.freeze({ url, description, mimeType: 'application/json', serviceName });

/**
 * Prepares the offer of one route.
 * @throws Error naming the route and the fault in its terms
 */
export function prepareOffer(terms: OfferTerms): Offer {
  const { baseUrl, path, network, payTo, bazaar } = terms;
  const amountAtomic = checkedPriceOf(terms);
  const url = `${baseUrl}${path}`;

  const requirements = requirementsOf(network, payTo, amountAtomic);
  const resource = resourceOf(terms, url);
  const extensions: Extensions | undefined = bazaar === undefined ? undefined : Object.freeze({ bazaar });

  // {"x402Version":2,"error":"…","resource":{"url":"https://… | ?query" | ,"description":…}
  const urlEnd = `"${url}`;
  const resourceText = JSON.stringify(resource);
  const afterUrl = resourceText.slice(resourceText.indexOf(urlEnd) + urlEnd.length + 1);
  const declared = { ...extensions, [PAYMENT_IDENTIFIER]: IDENTIFIER_DECLARATION };
  const tail = `${afterUrl},"accepts":[${JSON.stringify(requirements)}],"extensions":${JSON.stringify(declared)}`;
  const encodedTail = encodeBase64(encodeUtf8(`${tail}}`));
  const headOf = (error: string): string => {
    const head = `"x402Version":${X402_VERSION},"error":${JSON.stringify(error)},"resource":{"url":"${url}`;
    return `{${paddingFor(encodeUtf8(head).length + 1)}${head}`;
  };
  const encodedHeadOf = (error: string): string => encodeBase64(encodeUtf8(headOf(error)));

  const largest =
    encodedHeadOf('x'.repeat(CHALLENGE_ERROR_LENGTH_MAX)).length +
    base64SizeOf(SEARCH_BYTES_MAX + 1) +
    encodedTail.length;
  if (largest > OFFER_HEADER_BYTES_MAX) {
    throw new OversizedOfferError(
      `offer of ${path}: PAYMENT-REQUIRED would take up to ${largest} bytes, at most ${OFFER_HEADER_BYTES_MAX} are allowed`,
    );
  }

  /** Error -> encoded head. The errors are a closed list, so the map stays small. */
  const heads = new Map<string, string>();
  const encodedHead = (error: ChallengeError): string => {
    let head = heads.get(error);
    if (head === undefined) {
      head = encodedHeadOf(error);
      heads.set(error, head);
    }
    return head;
  };

  const firstHead = encodedHead(HEADER_REQUIRED);
  const membersHead = `,"x402Version":${X402_VERSION},"resource":{"url":"${url}`;
  const membersTail = `"${tail}`;
  const encodedQuoteOnly = btoa('"  ');
  const withoutSearch: Challenge = Object.freeze({
    header: firstHead + encodedQuoteOnly + encodedTail,
    members: [membersHead, membersTail],
  });

  return Object.freeze({
    requirements,
    amountAtomic,
    network,
    resource,
    extensions,
    declared,
    challenge(search: string, error: ChallengeError = HEADER_REQUIRED): Challenge {
      const query = searchInUrl(search);
      if (query === '' && error === HEADER_REQUIRED) return withoutSearch;
      const head = error === HEADER_REQUIRED ? firstHead : encodedHead(error);
      return {
        header: head + btoa(`${query}"${paddingFor(query.length + 1)}`) + encodedTail,
        members: [membersHead, query, membersTail],
      };
    },
  });
}
