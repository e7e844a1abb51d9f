/** JSON as other people's programs write it. */

/** Python writes NaN and Infinity, which JSON does not have. */
const NOT_JSON_NUMBER = /([:[,]\s*)(?:NaN|-?Infinity)(?=\s*[,}\]])/g;

/** Whether there may be an integer of 2^53 or more, which a double cannot hold exactly. */
const LONG_NUMBER = /[:[,]\s*-?\d{16}/;

/** Keeps such a number as its text, so that two ids never become one. */
const exact = (_: string, value: unknown, context?: { readonly source: string }): unknown =>
  typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? '')
    ? context?.source
    : value;

/** @throws SyntaxError for what is no JSON */
export const exactJson = (text: string): unknown => JSON.parse(text, LONG_NUMBER.test(text) ? exact : undefined);

export function parsedJson(text: string): { readonly ok: true; readonly value: unknown } | { readonly ok: false } {
  try {
    return { ok: true, value: exactJson(text) };
  } catch {
    if (!NOT_JSON_NUMBER.test(text)) return { ok: false };
  }
  try {
    return { ok: true, value: exactJson(text.replace(NOT_JSON_NUMBER, '$1null')) };
  } catch {
    return { ok: false };
  }
}
