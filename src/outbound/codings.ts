/** Content codings of an answer (RFC 9110 §8.4): those that the ways out ask for and unpack. */
import { CODINGS_MAX } from './limits.ts';

/** What `Accept-Encoding` asks for. */
export const ACCEPTED_CODINGS = 'gzip, deflate, br';

const CODINGS = ['gzip', 'x-gzip', 'deflate', 'br'] as const;

export type Coding = (typeof CODINGS)[number];

const isCoding = (text: string): text is Coding => (CODINGS as readonly string[]).includes(text);

/**
 * The codings of a body, the outermost first; undefined when one of them is unknown or they are too many.
 * @param header `content-encoding`, several of them joined
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
