/**
 * JSON from outside. Keys such as `__proto__` are own properties after JSON.parse: a plain read of any name that is not on
 * Object.prototype sees only what was sent.
 */

export type JsonObject = Readonly<Record<string, unknown>>;

/** The value of a JSON text; undefined, which no JSON text means, for any other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a JSON value is an object; arrays are none. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value as a JSON object; undefined for any other value. */
export const objectOf = (value: unknown): JsonObject | undefined => (isObject(value) ? value : undefined);
