/** JSON as other people's programs write it. */

/** Python writes NaN and Infinity, which JSON does not have. */
const NOT_JSON_NUMBER = /([:[,]\s*)(?:NaN|-?Infinity)(?=\s*[,}\]])/g;

export function parsedJson(text: string): { readonly ok: true; readonly value: unknown } | { readonly ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    if (!NOT_JSON_NUMBER.test(text)) return { ok: false };
  }
  try {
    return { ok: true, value: JSON.parse(text.replace(NOT_JSON_NUMBER, '$1null')) };
  } catch {
    return { ok: false };
  }
}
