/**
 * Headers of answers that contain untrusted text (from webhooks, targets, pages). They keep browsers from guessing another
 * media type and from running anything in the text (decisions §5; reliability 175, 231).
 */
import * as v from 'valibot';
import type { AnswerHeader } from '../http/contract.ts';

export const UNTRUSTED_HEADERS = Object.freeze({
  'content-type': 'application/json',
  'x-content-type-options': 'nosniff',
  'content-security-policy': 'sandbox',
} as const);

/** The same headers for the contract. */
export const UNTRUSTED_ANSWER_HEADERS: Readonly<Record<string, AnswerHeader>> = {
  'X-Content-Type-Options': {
    description: 'Keeps browsers from guessing another media type',
    schema: v.literal(UNTRUSTED_HEADERS['x-content-type-options']),
  },
  'Content-Security-Policy': {
    description: 'Keeps browsers from running or loading anything in the answer',
    schema: v.literal(UNTRUSTED_HEADERS['content-security-policy']),
  },
};
