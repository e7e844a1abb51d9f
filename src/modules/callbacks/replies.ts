/**
 * JSON text for readers and senders. It contains what strangers sent, so browsers must never sniff another type out of it,
 * and a browser that opens it must let it do nothing (decisions §5; reliability 175).
 */
import * as v from 'valibot';
import { Reply } from '../../http/answers.ts';
import type { AnswerHeader } from '../../http/contract.ts';

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
