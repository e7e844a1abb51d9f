/** Writes a whole number with its digits in groups of three (`1,234,567`), the same in every locale. */
export function grouped(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
