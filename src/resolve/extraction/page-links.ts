/** The links of a page in their order, each address once. */
import { LINK_COUNT_MAX, LINK_TEXT_MAX } from '../limits.ts';
import type { PageLink } from '../result.ts';
import { addressIn } from './page-metadata.ts';
import { shortLine } from './plain-text.ts';

/** Links that are examined to find the first 100 distinct ones. */
const CANDIDATE_COUNT_MAX = 2_000;
/** Characters gathered per link. */
const GATHERED_LENGTH_MAX = 4 * LINK_TEXT_MAX;

interface Candidate {
  readonly href: string;
  text: string;
  /** Alternative text of pictures, for a link without other text. */
  alt: string;
}

export class LinkReader {
  readonly #candidates: Candidate[] = [];
  #open: Candidate | undefined;

  get isOpen(): boolean {
    return this.#open !== undefined;
  }

  open(attributes: ReadonlyMap<string, string>): void {
    this.#open = undefined;
    const href = attributes.get('href')?.trim();
    if (href === undefined || href === '') return;
    this.#open = { href, text: '', alt: attributes.get('aria-label') ?? '' };
    // A fragment alone leads to this very page.
    if (!href.startsWith('#') && this.#candidates.length < CANDIDATE_COUNT_MAX) this.#candidates.push(this.#open);
  }

  close(): void {
    this.#open = undefined;
  }

  onText(text: string): void {
    const link = this.#open;
    if (link !== undefined && link.text.length < GATHERED_LENGTH_MAX) link.text += text.slice(0, GATHERED_LENGTH_MAX);
  }

  onBreak(): void {
    this.onText(' ');
  }

  onImage(attributes: ReadonlyMap<string, string>): void {
    const link = this.#open;
    if (link !== undefined) link.alt ||= attributes.get('alt') ?? '';
  }

  links(base: URL): readonly PageLink[] {
    const links = new Map<string, PageLink>();
    for (const { href, text, alt } of this.#candidates) {
      const url = addressIn(href, base);
      if (url === null) continue;
      const shown = shortLine(text, LINK_TEXT_MAX) ?? shortLine(alt, LINK_TEXT_MAX) ?? '';
      const known = links.get(url);
      // A picture and a headline often link to the same address.
      if (known === undefined ? links.size < LINK_COUNT_MAX : known.text === '' && shown !== '') {
        links.set(url, { url, text: shown });
      }
    }
    return [...links.values()];
  }
}
