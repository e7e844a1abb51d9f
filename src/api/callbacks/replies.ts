/**
 * JSON text on its way to a reader or a sender. What strangers sent is inside, so it is never sniffed into anything but JSON
 * and, opened in a browser, can do nothing (decisions §5; reliability 175).
 */
import { Reply } from '../../http/route.ts';

export const UNTRUSTED_HEADERS = {
  'content-type': 'application/json',
  'x-content-type-options': 'nosniff',
  'content-security-policy': 'sandbox',
} as const;

/** @param json finished JSON text */
export function jsonReply(json: string): Reply {
  return new Reply(json, UNTRUSTED_HEADERS);
}
