/** Parsers of settings. Each refuses with words that complete "VARIABLE must be ...". */
import { base64Bytes } from '../base/codec.ts';
import { isHomePath, NO_HOME_PATH } from '../base/home-path.ts';
import { parseTargetAllow, type TargetAllow } from '../outbound/target-allow.ts';
import { type Prices, parsePrices } from '../payment/prices.ts';
import { type Address, NETWORK_IDS, networkOf, parseAddress, ZERO_ADDRESS } from '../payment/protocol/network.ts';
import { InvalidSettingError, mayHoldSecret, type Parse } from './setting.ts';

const refuse = (must: string): never => {
  throw new InvalidSettingError(must);
};

/** One of the listed words, compared exactly. */
export const oneOf =
  <const T extends string>(values: readonly T[]): Parse<T> =>
  (text) =>
    values.find((value) => value === text) ?? refuse(`one of ${values.join(', ')}`);

/** Four decimal octets without leading zeros. */
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;

/**
 * An address or a name to listen on. Digits and dots that are not an IPv4 address are not a name either (RFC 1123 §2.1). IPv6
 * is written as in a web address, so without a zone.
 */
export const listeningHost: Parse<string> = (text) => {
  const isHost = text.includes(':')
    ? URL.canParse(`http://[${text}]`)
    : /^[\w.-]+$/.test(text) && (/[^\d.]/.test(text) || IPV4.test(text));
  return isHost ? text : refuse('an address or a name of this machine, IPv6 without brackets or zone');
};

/** Decimal digits without sign or leading zero, `min` to `max`, both included. */
export const wholeNumber =
  (min: number, max: number): Parse<number> =>
  (text) => {
    const value = /^(0|[1-9][0-9]*)$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : refuse(`a whole number from ${min} to ${max}`);
  };

/** Most digits of an amount. */
const AMOUNT_DIGITS_MAX = 30;

/** Atomic USDC (6 decimals). */
export const atomicAmount: Parse<bigint> = (text) =>
  /^(0|[1-9][0-9]*)$/.test(text) && text.length <= AMOUNT_DIGITS_MAX
    ? BigInt(text)
    : refuse(`a whole number of atomic USDC (6 decimals) of at most ${AMOUNT_DIGITS_MAX} digits`);

/** The words about one entry of a list, which quote it; none where the list may hold a secret. */
const aboutEntry = (text: string, words: string): string => (mayHoldSecret(text) ? '' : words);

/** Prices by name: `search=0.02,company=0.05`. */
export const priceList: Parse<Prices> = (text) => {
  const parsed = parsePrices(text);
  return parsed.ok
    ? parsed.prices
    : refuse(`a list such as search=0.02,company=0.05${aboutEntry(text, ` (${parsed.fault})`)}`);
};

/** Entries `host:port` or `cidr:port`, comma-separated. */
export const targetList: Parse<TargetAllow> = (text) => {
  const parsed = parseTargetAllow(text);
  if (parsed.ok) return parsed.allow;
  const fault = aboutEntry(text, `; ${JSON.stringify(parsed.entry)} is neither`);
  return refuse(`host:port or cidr:port, comma-separated, IPv6 in brackets${fault}`);
};

const trueOrFalse = oneOf(['true', 'false']);

export const switchOn: Parse<boolean> = (text) => trueOrFalse(text) === 'true';

export const notBlank: Parse<string> = (text) => (text.trim() === '' ? refuse('a text that is not blank') : text);

/** A path of the file system, as given. */
export const filePath: Parse<string> = (text) => (isHomePath(text) ? refuse(NO_HOME_PATH) : notBlank(text));

/** Longest contact in characters: every outbound request carries it. */
const CONTACT_LENGTH_MAX = 200;

/** An address or URL for people, as `User-Agent` carries it in a comment (RFC 9110 §5.6.5). */
export const contactText: Parse<string> = (text) =>
  /^[!-'*-[\]-~]+$/.test(text) && text.length <= CONTACT_LENGTH_MAX
    ? text
    : refuse(
        `an address or URL in visible ASCII without blanks, brackets and backslashes, at most ${CONTACT_LENGTH_MAX} characters`,
      );

/** A token issued by another server, as a header can carry it: a line break from a file would fail every request. */
export const bearerToken: Parse<string> = (text) =>
  /^[!-~]+$/.test(text) ? text : refuse('visible ASCII without blanks, at least one character');

/**
 * A secret that clients send in a header: visible ASCII, at least 32 characters. It must not end with a comma, which would
 * read as a repeated header. The refusal does not repeat the secret.
 */
export const secretText: Parse<string> = (text) =>
  /^[!-~]{32,}$/.test(text) && !text.endsWith(',')
    ? text
    : refuse('at least 32 characters of visible ASCII without blanks and without a comma at the end');

/** Distinct words of a list, comma-separated; `none` is the empty list. */
export const wordList =
  <const T extends string>(words: readonly T[]): Parse<readonly T[]> =>
  (text) => {
    if (text === 'none') return [];
    const given = text.split(',').map((word) => word.trim());
    const known = words.filter((word) => given.includes(word));
    return known.length === given.length ? known : refuse(`none, or some of ${words.join(', ')}, comma-separated`);
  };

/** Bytes as base64 with its padding. The refusal does not repeat the text. */
export const secretBytes =
  (count: number): Parse<Uint8Array> =>
  (text) =>
    base64Bytes(text, count) ?? refuse(`${count} bytes as base64`);

/** Longest public address in characters: every offer carries it in a header. */
const WEB_ADDRESS_LENGTH_MAX = 200;

/** An http or https address without user, query or fragment; trailing slashes are removed. */
export const webAddress: Parse<string> = (text) => {
  const url = URL.parse(text) ?? refuse('an http or https address');
  if (url.protocol !== 'http:' && url.protocol !== 'https:') refuse('an http or https address');
  if (url.username !== '' || url.password !== '' || text.includes('?') || text.includes('#')) {
    refuse('an address without user, query and fragment');
  }
  if (url.href.length > WEB_ADDRESS_LENGTH_MAX) refuse(`an address of at most ${WEB_ADDRESS_LENGTH_MAX} characters`);
  return url.href.replace(/\/+$/, '');
};

/** Distinct web addresses, comma-separated, at most `countMax`. */
export const webAddressList =
  (countMax: number): Parse<readonly string[]> =>
  (text) => {
    const addresses = text.split(',').map((one) => webAddress(one.trim()));
    if (new Set(addresses).size < addresses.length) refuse('a list without repetitions');
    return addresses.length <= countMax ? addresses : refuse(`at most ${countMax} addresses, comma-separated`);
  };

const FILE_OR_ADDRESS = 'a file, or an http or https address';

/** A file's path or one of its words, or an http or https address without a user, as given. */
export const fileOrAddress: Parse<string> = (text) => {
  if (!/^https?:/i.test(text)) return /^[a-z][\w+.-]*:\/\//i.test(text) ? refuse(FILE_OR_ADDRESS) : filePath(text);
  const url = URL.parse(text) ?? refuse(FILE_OR_ADDRESS);
  if (url.username !== '' || url.password !== '' || url.hash !== '') refuse('an address without user and fragment');
  return url.href;
};

/** An address of a PostgreSQL database, as given. The refusal does not repeat it: it may hold a password. */
export const databaseAddress: Parse<string> = (text) => {
  const form = 'an address like postgres://user:password@host:5432/database';
  const url = URL.parse(text) ?? refuse(form);
  return url.protocol === 'postgres:' || url.protocol === 'postgresql:' ? text : refuse(form);
};

/** `*`, or an origin exactly as browsers send it. */
export const origin: Parse<string> = (text) => {
  const isOrigin = text === '*' || URL.parse(text)?.origin === text;
  return isOrigin ? text : refuse('`*` or an origin such as https://app.example.com');
};

/** An EVM address that can receive payments. */
export const payee: Parse<Address> = (text) => {
  const address = parseAddress(text);
  if (address === undefined) {
    return refuse('an address of 0x and 40 hex digits; mixed case must have a valid checksum (EIP-55)');
  }
  if (address === ZERO_ADDRESS) refuse('an address that can be paid, not the zero address');
  if (NETWORK_IDS.some((id) => networkOf(id).usdc === address)) {
    refuse('an address other than the contract of USDC, where payments would be lost');
  }
  return address;
};
