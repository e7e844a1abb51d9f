/**
 * Makes unguessable identifiers: callback ids (24 of 62 letters and digits, 142 bits) and event ids (32 hex digits, 128 bits).
 * The bytes come from the CSPRNG that the caller passes. Each identifier is joined in one step, as base/alphanumerics.ts says.
 */
import { idKind } from '../base/alphanumerics.ts';
import type { Brand } from '../base/brand.ts';
import { encodeDigits } from '../base/codec.ts';
import type { Random } from '../base/random.ts';

export type CallbackId = Brand<string, 'CallbackId'>;
export type EventId = Brand<string, 'EventId'>;

/** callback.md: `^cb_[A-Za-z0-9]{24}$`. */
const ids = idKind<CallbackId>('cb_');

export const CALLBACK_ID_FORM = ids.form;
/** The message of INVALID_CALLBACK_ID. */
export const CALLBACK_ID_RULE = `a callback id is ${ids.rule}`;

export const newCallbackId = ids.create;
export const parseCallbackId = ids.parse;

/** callback.md, "Event". */
export const EVENT_ID_FORM = /^evt_[a-f0-9]{32}$/;

export function newEventId(random: Random): EventId {
  return ['evt_', encodeDigits(random.bytes(16))].join('') as EventId;
}
