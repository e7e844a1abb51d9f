/**
 * Whether memory stays flat. A collected heap is a saw: what grows for ever raises its lowest points. So the second half of
 * the samples is cut into equal pieces, the lowest sample of each piece counts, and a straight line is fitted through them
 * (least squares). Memory is flat when the line's rise over the half stays within the noise: twice the standard deviation of
 * the lowest points about the line, and at least {@link NOISE_MEGABYTES_MIN}.
 */
const PIECE_COUNT = 20;
/** Pages that an allocator takes and gives back. */
const NOISE_MEGABYTES_MIN = 16;

export interface Flatness {
  readonly isFlat: boolean;
  /** Rise of the line from the middle to the end, megabytes. */
  readonly riseMegabytes: number;
  /** What it may be. */
  readonly noiseMegabytes: number;
}

/** @param megabytes resident memory at equal intervals from the start; at least two in each piece, else it is not judged */
export function flatnessOf(megabytes: readonly number[]): Flatness {
  const half = megabytes.slice(Math.floor(megabytes.length / 2));
  const pieceLength = Math.floor(half.length / PIECE_COUNT);
  if (pieceLength < 2) return { isFlat: true, riseMegabytes: 0, noiseMegabytes: Number.POSITIVE_INFINITY };
  const lowest = Array.from({ length: PIECE_COUNT }, (_, i) =>
    Math.min(...half.slice(i * pieceLength, (i + 1) * pieceLength)),
  );
  const mean = lowest.reduce((sum, value) => sum + value, 0) / PIECE_COUNT;
  const middle = (PIECE_COUNT - 1) / 2;
  let products = 0;
  let squares = 0;
  for (const [i, value] of lowest.entries()) {
    products += (i - middle) * (value - mean);
    squares += (i - middle) ** 2;
  }
  const slope = products / squares;
  const deviation = Math.sqrt(
    lowest.reduce((sum, value, i) => sum + (value - mean - slope * (i - middle)) ** 2, 0) / (PIECE_COUNT - 2),
  );
  const riseMegabytes = slope * (PIECE_COUNT - 1);
  const noiseMegabytes = Math.max(NOISE_MEGABYTES_MIN, 2 * deviation);
  return { isFlat: riseMegabytes <= noiseMegabytes, riseMegabytes, noiseMegabytes };
}
