/**
 * Read tokens (callback.md, "Callback"). The server shows a token once, at creation, and stores only its SHA-256 digest. All
 * digests have one length, so comparing them takes constant time, whatever the client sent.
 */
import { tokenKind } from '../base/alphanumerics.ts';
import { sha256 } from '../base/digest.ts';

const tokens = tokenKind('svc_cb_sk_');

export const CALLBACK_TOKEN_FORM = tokens.form;

export const newReadToken = tokens.create;

/** What the server stores of a token: 32 bytes. @param token text of any length */
export const digestOf = (token: string): Uint8Array => sha256(token);
