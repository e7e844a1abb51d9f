/** The headers of an answer. */
import type { OutboundAnswer } from './outbound.ts';

/** The value of a header, the first if it is repeated; null without one. @param name in lower case */
export const headerOf = ({ headers }: Pick<OutboundAnswer, 'headers'>, name: string): string | null =>
  headers.find(([found]) => found === name)?.[1] ?? null;
