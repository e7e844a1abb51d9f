/**
 * The texts of recent answers over the served catalogue: what an answer says follows from the catalogue and the question alone,
 * but for the times and the credits of its `meta`. Bounded by characters; a new catalogue drops all of them.
 */
import { LRUCache } from 'lru-cache';
import type { ServedCatalogue } from '../../catalogue/holder.ts';
import { Refusal } from '../../http/errors.ts';

/** Characters of all texts together, at most two bytes each. */
const TEXT_LENGTH_MAX = 8_000_000;

/** The `data` of an answer as JSON text, with its cost in credits. */
export interface DataText {
  readonly text: string;
  readonly cost: number;
}

export class PagesMemo {
  #served: ServedCatalogue | undefined;
  readonly #texts = new LRUCache<string, DataText>({
    maxSize: TEXT_LENGTH_MAX,
    maxEntrySize: TEXT_LENGTH_MAX / 8,
    sizeCalculation: ({ text }, question) => text.length + question.length,
  });

  /**
   * @param question the same text for the same question, page and limit
   * @param make gives the text, or a refusal, which is not kept
   */
  over<R extends Refusal>(served: ServedCatalogue, question: string, make: () => DataText | R): DataText | R {
    if (served !== this.#served) {
      this.#served = served;
      this.#texts.clear();
    }
    const known = this.#texts.get(question);
    if (known !== undefined) return known;
    const made = make();
    if (!(made instanceof Refusal)) this.#texts.set(question, made);
    return made;
  }
}
