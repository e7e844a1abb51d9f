/**
 * The texts of recent answers over the served catalogue: an answer depends only on catalogue and question, except for the
 * times and credits of its `meta`. A text is stored at its second use, because a chain of pages asks for each page only once,
 * and texts that live for a while cost the collector more than they save. Bounded by characters; a new catalogue drops all.
 */
import type { ServedCatalogue } from '../../catalogue/holder.ts';
import { Refusal } from '../../http/errors.ts';
import { KeptBeginning } from '../../http/hot/kept-json.ts';

/** Characters of all texts together, at most two bytes each; on Bun their UTF-8 is stored too. */
const TEXT_LENGTH_MAX = 8_000_000;

/** Questions that were asked once: at most a few thousand characters each, of which a cursor has 300. */
const ASKED_COUNT_MAX = 4096;

/** The beginning of an answer, with its `data` as JSON text and its cost in credits. */
export interface DataText {
  readonly beginning: KeptBeginning;
  readonly cost: number;
}

/** @param text of the `data` */
export const dataText = (text: string, cost: number): DataText => ({
  beginning: new KeptBeginning(`{"data":${text}`),
  cost,
});

export class PagesMemo {
  #served: ServedCatalogue | undefined;
  readonly #askedOnce = new Set<string>();
  readonly #texts = new Map<string, DataText>();
  /** Characters of the texts and their questions. */
  #length = 0;

  /**
   * @param question the same text for the same question, page and limit
   * @param make gives the text, or a refusal, which is not stored
   */
  over<R extends Refusal>(
    served: ServedCatalogue,
    question: string,
    make: (served: ServedCatalogue) => DataText | R,
  ): DataText | R {
    if (served !== this.#served) {
      this.#served = served;
      this.#askedOnce.clear();
      this.#clear();
    }
    const known = this.#texts.get(question);
    if (known !== undefined) return known;
    const made = make(served);
    if (!(made instanceof Refusal)) this.#note(question, made);
    return made;
  }

  #note(question: string, made: DataText): void {
    if (!this.#askedOnce.delete(question)) {
      if (this.#askedOnce.size >= ASKED_COUNT_MAX) this.#askedOnce.clear();
      this.#askedOnce.add(question);
      return;
    }
    const length = question.length + made.beginning.text.length;
    if (length > TEXT_LENGTH_MAX / 8) return;
    // Drops all at once: tracking the order of use would cost every answer more than refilling the memo.
    if (this.#length + length > TEXT_LENGTH_MAX) this.#clear();
    this.#texts.set(question, made);
    this.#length += length;
  }

  #clear(): void {
    this.#texts.clear();
    this.#length = 0;
  }
}
