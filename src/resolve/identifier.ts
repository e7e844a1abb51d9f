/** Ids and read tokens of resolves (siblings §7); of a token only the digest is stored. */
import { idKind, tokenKind } from '../base/alphanumerics.ts';
import type { Brand } from '../base/brand.ts';
import { sha256 } from '../base/digest.ts';

export type ResolveId = Brand<string, 'ResolveId'>;

const ids = idKind<ResolveId>('rs_');

export const RESOLVE_ID_FORM = ids.form;
/** The message of INVALID_RESOLVE_ID. */
export const RESOLVE_ID_RULE = `the id of a resolve is ${ids.rule}`;

export const newResolveId = ids.create;
export const parseResolveId = ids.parse;

const tokens = tokenKind('svc_rs_sk_');

export const RESOLVE_TOKEN_FORM = tokens.form;

export const newResolveToken = tokens.create;

/** What is stored of a token: 32 bytes. @param token text of any length */
export const resolveTokenDigest = (token: string): Uint8Array => sha256(token);
