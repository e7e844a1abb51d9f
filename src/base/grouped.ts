/** A whole number with its digits in groups of three, the same on every machine. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
