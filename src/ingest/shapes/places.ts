/** Places as location texts. */
import { textOf } from '../input/source-field.ts';

/** Places as one location text, in order, each once; null when there is none. */
export function joinedPlaces(places: readonly (string | null | undefined)[]): string | null {
  const distinct = new Set<string>();
  for (const place of places) {
    const text = place?.trim();
    if (text) distinct.add(text);
  }
  return distinct.size === 0 ? null : [...distinct].join('; ');
}

/** City, region and country as one place, a repeated part once; null when all are blank. */
export function placeOf(...parts: readonly unknown[]): string | null {
  const distinct = new Set(parts.map(textOf).filter((part) => part !== null));
  return distinct.size === 0 ? null : [...distinct].join(', ');
}
