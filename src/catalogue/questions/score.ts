/**
 * The hiring activity score (specification, "Signal entry"; decisions §3): 100 * recent / observed with two decimals,
 * half rounded away from zero. Scores are whole numbers of hundredths, 0 .. 10000, so that equal scores compare as equal.
 */

/**
 * recent <= observed, both whole and at most 2^31. The quotient floor((20000 r + n) / 2n) is exact in doubles: it is
 * at most 10000, and a quotient that is not whole is at least 1 / 2n away from the next whole number.
 */
export function scoreHundredths(recent: number, observed: number): number {
  return observed === 0 ? 0 : Math.floor((20_000 * recent + observed) / (2 * observed));
}

/** 13 -> 0.13: the double nearest to the decimal fraction, so that it prints with at most two decimals. */
export function scoreOf(hundredths: number): number {
  return hundredths / 100;
}
