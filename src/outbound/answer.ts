/** Status and headers of an answer. */
import type { OutboundAnswer } from './outbound.ts';

/** RFC 9110 §15.4: statuses that name the same resource elsewhere. 300 and 304 do not. */
export const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The value of a header, the first if it is repeated; null without one. @param name in lower case */
export const headerOf = ({ headers }: Pick<OutboundAnswer, 'headers'>, name: string): string | null =>
  headers.find(([found]) => found === name)?.[1] ?? null;
