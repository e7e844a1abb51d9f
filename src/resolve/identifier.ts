/**
 * Ids (24 letters or digits, 142 bits) and read tokens of resolves (siblings §7); of a token, 256 bits, only the digest is stored.
 */
import { alphanumerics } from '../base/alphanumerics.ts';
import type { Brand } from '../base/brand.ts';
import { sha256 } from '../base/digest.ts';
import type { Random } from '../base/random.ts';

export type ResolveId = Brand<string, 'ResolveId'>;

const RESOLVE_ID = /^rs_[A-Za-z0-9]{24}$/;
const SECRET_LETTER_COUNT = 43;

/** The form of an id, for the message of INVALID_RESOLVE_ID. */
export const RESOLVE_ID_FORM = 'the id of a resolve is `rs_` and 24 letters or digits';

export const newResolveId = (random: Random): ResolveId => `rs_${alphanumerics(random, 24)}` as ResolveId;

/** Parses an id; undefined for any other text. */
export const parseResolveId = (text: string): ResolveId | undefined =>
  RESOLVE_ID.test(text) ? (text as ResolveId) : undefined;

export const newResolveToken = (random: Random): string => `svc_rs_sk_${alphanumerics(random, SECRET_LETTER_COUNT)}`;

/** What is stored of a token: 32 bytes. @param token text of any length */
export const resolveTokenDigest = (token: string): Uint8Array => sha256(token);
