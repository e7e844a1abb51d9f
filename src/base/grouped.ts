/** Writes a whole number with its digits in groups of three (`1,234,567`), the same in every locale. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** A number with what it counts: `1 job`, `1,204 jobs`. */
export const quantity = (count: number, noun: string): string => `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`;
