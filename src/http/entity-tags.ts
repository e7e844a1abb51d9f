/** Entity tags in conditional requests (RFC 9110 §13.1.2). */

const TAG = /(?:W\/)?"[^"]*"/g;

const opaqueOf = (tag: string): string => tag.replace(/^W\//, '');

/** Whether `If-None-Match` lists a tag, or any (`*`), by weak comparison. @param ifNoneMatch null without the header */
export function isListed(tag: string, ifNoneMatch: string | null): boolean {
  if (ifNoneMatch === null) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return (ifNoneMatch.match(TAG) ?? []).some((one) => opaqueOf(one) === opaqueOf(tag));
}
