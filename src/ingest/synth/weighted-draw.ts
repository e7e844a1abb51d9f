/** Weighted choices for the synthetic catalogue, and the laws that its weights follow. */
import type { SeededRandom } from '../../base/seeded-random.ts';

/** Draws indexes of a weighted list in constant time (Vose's alias method). Weights are positive. */
export class WeightedDraw {
  /** By index: the share of its draws that it keeps, 0 .. 1; the others go to `#alias`. */
  readonly #keep: Float64Array;
  readonly #alias: Uint32Array;

  constructor(weights: ArrayLike<number>) {
    const count = weights.length;
    let total = 0;
    for (let i = 0; i < count; i++) total += weights[i]!;
    this.#keep = new Float64Array(count).fill(1);
    this.#alias = new Uint32Array(count);
    const scaled = Float64Array.from(weights, (weight) => (weight * count) / total);
    const small: number[] = [];
    const large: number[] = [];
    for (let i = 0; i < count; i++) (scaled[i]! < 1 ? small : large).push(i);
    while (small.length > 0 && large.length > 0) {
      const low = small.pop()!;
      const high = large.pop()!;
      this.#keep[low] = scaled[low]!;
      this.#alias[low] = high;
      scaled[high] = scaled[high]! + scaled[low]! - 1;
      (scaled[high]! < 1 ? small : large).push(high);
    }
  }

  next(random: SeededRandom): number {
    const index = random.below(this.#keep.length);
    return random.unit() < this.#keep[index]! ? index : this.#alias[index]!;
  }
}

/** Zipf's law with Mandelbrot's shift: the weight of rank r, from 0, is 1 / (r + 1 + shift). */
export function zipfWeights(count: number, shift: number): Float64Array {
  return Float64Array.from({ length: count }, (_, rank) => 1 / (rank + 1 + shift));
}

/**
 * Weights of whole days, with exponential decay: each day the share `stay` of those that reached it continues, up to `daysMax`.
 */
export function decayWeights(daysMax: number, stay: number): Float64Array {
  const weights = new Float64Array(daysMax + 1);
  let left = 1;
  for (let day = 0; day <= daysMax; day++) {
    weights[day] = left * (1 - stay);
    left *= stay;
  }
  return weights;
}
