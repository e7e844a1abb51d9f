/** Content codings of an answer (RFC 9110 §8.4): those that outbound requests accept and this server can unpack. */
import { CODINGS_MAX } from './limits.ts';

/** The value of `Accept-Encoding`. */
export const ACCEPTED_CODINGS = 'gzip, deflate, br';

const CODINGS = ['gzip', 'x-gzip', 'deflate', 'br'] as const;

export type Coding = (typeof CODINGS)[number];

const isCoding = (text: string): text is Coding => (CODINGS as readonly string[]).includes(text);

/**
 * The codings of a body, the outermost first; undefined when one is unknown or there are too many.
 * @param header the value of `content-encoding`, repeated ones joined
 */
export function codingsOf(header: string): readonly Coding[] | undefined {
  const names = header
    .toLowerCase()
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '' && one !== 'identity');
  const codings = names.filter(isCoding).reverse();
  return codings.length === names.length && codings.length <= CODINGS_MAX ? codings : undefined;
}
