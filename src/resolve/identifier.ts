/** Ids and read tokens of resolves (siblings §7); of a token only the digest is stored. */
import { idKind, newToken } from '../base/alphanumerics.ts';
import type { Brand } from '../base/brand.ts';
import { sha256 } from '../base/digest.ts';
import type { Random } from '../base/random.ts';

export type ResolveId = Brand<string, 'ResolveId'>;

const ids = idKind<ResolveId>('rs_');

/** The form of an id, for the message of INVALID_RESOLVE_ID. */
export const RESOLVE_ID_FORM = `the id of a resolve is ${ids.form}`;

export const newResolveId = ids.create;
export const parseResolveId = ids.parse;

export const newResolveToken = (random: Random): string => newToken('svc_rs_sk_', random);

/** What is stored of a token: 32 bytes. @param token text of any length */
export const resolveTokenDigest = (token: string): Uint8Array => sha256(token);
