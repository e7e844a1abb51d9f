/** Values that the answers of several modules have. */
import * as v from 'valibot';

export const dateTime = v.pipe(v.string(), v.isoTimestamp());
/** A time with milliseconds and `Z`. */
export const instant = v.pipe(v.string(), v.regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/));
export const count = v.pipe(v.number(), v.integer(), v.minValue(0));
/** A whole number within bounds, both included. */
export const wholeNumber = (min: number, max: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));
