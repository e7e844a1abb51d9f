/**
 * JSON text on its way to a reader or a sender. What strangers sent is inside, so it is never sniffed into anything but JSON
 * and, opened in a browser, can do nothing (decisions §5; reliability 175).
 */
import * as v from 'valibot';
import { type AnswerHeader, Reply } from '../../http/route.ts';

export const UNTRUSTED_HEADERS = {
  'content-type': 'application/json',
  'x-content-type-options': 'nosniff',
  'content-security-policy': 'sandbox',
} as const;

/** The same as the contract shows them. */
export const UNTRUSTED_ANSWER_HEADERS: Readonly<Record<string, AnswerHeader>> = {
  'X-Content-Type-Options': {
    description: 'Never read as another type',
    schema: v.literal(UNTRUSTED_HEADERS['x-content-type-options']),
  },
  'Content-Security-Policy': {
    description: 'Opened in a browser, it can do nothing',
    schema: v.literal(UNTRUSTED_HEADERS['content-security-policy']),
  },
};

/** @param json finished JSON text */
export function jsonReply(json: string): Reply {
  return new Reply(json, UNTRUSTED_HEADERS);
}
