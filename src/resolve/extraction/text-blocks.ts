/**
 * The readable text of a page, gathered as blocks (paragraphs, headings, list items, cells) while the markup is read, and
 * chosen at the end (siblings §7): the text in `main`, `article` or `role=main`; otherwise the run of blocks with the most
 * text outside links. Navigation, footers, asides and hidden parts are left out unless nothing else has text. Linear in the
 * document.
 */
import { TEXT_CODE_POINTS_MAX } from '../limits.ts';
import { firstCodePoints, lineOf, withoutUnprintable } from './plain-text.ts';

/** Blocks that are read, further ones are left out; a page with 100,000 code points of text has a tenth of this. */
const BLOCK_COUNT_MAX = 100_000;
/** Maximum of distinct regions; lists of articles have dozens. */
const REGION_COUNT_MAX = 1_000;

/** Stands for a `<br>` among the pieces of a block; in a document it is a control character, which no text has. */
const LINE_BREAK = '\u0001';

/** A run of blocks loses this many characters for each block, so that lists of short links never extend one. */
const BLOCK_COST = 25;
/** Short blocks on each side of a run that are added to it. */
const NEIGHBOUR_COUNT_MAX = 3;
/** With fewer characters than this in a region, the text is taken to be elsewhere, if there is this many times as much there. */
const REGION_LENGTH_MIN = 200;
const ELSEWHERE_FACTOR = 4;
/** An article is the page's own content when it has this share of all text in the region around it. */
const OWN_SHARE = 0.6;

interface Block {
  readonly text: string;
  /** Characters inside links. */
  readonly linkLength: number;
  /** True: separated by a blank line before it; otherwise by a line break. */
  readonly isParagraph: boolean;
  /** True: in a part that its markup shows to be boilerplate. */
  readonly isBoilerplate: boolean;
}

export type RegionKind = 'main' | 'article';

interface Region {
  readonly kind: RegionKind;
  readonly start: number;
  /** Index after its last block. */
  end: number;
}

/** How a block ends; members that are left out are false, and no prefix. */
interface BlockEnd {
  readonly isBoilerplate?: boolean;
  /** True: what follows it is separated by a blank line. */
  readonly isParagraph?: boolean;
  /** True: its blanks are kept. */
  readonly isPreformatted?: boolean;
  /** Begins the next block, such as a list item's dash. */
  readonly prefix?: string;
}

const own = ({ text, linkLength, isBoilerplate }: Block): number =>
  isBoilerplate ? 0 : Math.max(0, text.length - linkLength);

export class TextBlocks {
  readonly #blocks: Block[] = [];
  readonly #regions: Region[] = [];
  readonly #openRegions: (Region | undefined)[] = [];
  /** Pieces of the block that is being read. */
  #pieces: string[] = [];
  #linkLength = 0;
  #isParagraph = false;
  #prefix = '';

  add(text: string, isLink: boolean): void {
    if (text === '' || this.#blocks.length >= BLOCK_COUNT_MAX) return;
    this.#pieces.push(text);
    if (isLink) this.#linkLength += text.length;
  }

  lineBreak(): void {
    // More than two in a row are a blank line too.
    if (this.#pieces.at(-1) !== LINE_BREAK || this.#pieces.at(-2) !== LINE_BREAK) this.#pieces.push(LINE_BREAK);
  }

  /** Ends the block. */
  end({ isBoilerplate = false, isParagraph = false, isPreformatted = false, prefix = '' }: BlockEnd = {}): void {
    const pieces = this.#pieces;
    if (pieces.length > 0) {
      this.#pieces = [];
      const joined = pieces.join('');
      const text = isPreformatted ? preformattedText(joined) : linesOf(joined);
      if (text !== '') {
        this.#put(this.#prefix + text, isBoilerplate);
        this.#prefix = '';
        this.#isParagraph = false;
      }
      this.#linkLength = 0;
    }
    if (isParagraph) this.#isParagraph = true;
    if (prefix !== '') this.#prefix = prefix;
  }

  openRegion(kind: RegionKind): void {
    const region = { kind, start: this.#blocks.length, end: this.#blocks.length };
    const isKept = this.#regions.length < REGION_COUNT_MAX;
    if (isKept) this.#regions.push(region);
    this.#openRegions.push(isKept ? region : undefined);
  }

  closeRegion(): void {
    const region = this.#openRegions.pop();
    if (region !== undefined) region.end = this.#blocks.length;
  }

  /** The chosen text, at most {@link TEXT_CODE_POINTS_MAX} code points. Call it once, at the end. */
  text(): { readonly text: string; readonly isCut: boolean } {
    const blocks = this.#blocks;
    const sums = new Float64Array(blocks.length + 1);
    for (const [i, block] of blocks.entries()) sums[i + 1] = (sums[i] as number) + own(block);
    const lengthOf = ({ start, end }: Pick<Region, 'start' | 'end'>): number =>
      (sums[end] as number) - (sums[start] as number);
    const whole = { start: 0, end: blocks.length };
    const region = this.#ownRegion(lengthOf);
    const isThin =
      region === undefined ||
      (lengthOf(region) < REGION_LENGTH_MIN && ELSEWHERE_FACTOR * lengthOf(region) < lengthOf(whole));
    const { start, end } = isThin ? bestRun(blocks) : region;
    const chosen = blocks.slice(start, end);
    const hasOwn = chosen.some(({ isBoilerplate }) => !isBoilerplate);
    return joined(hasOwn ? chosen.filter(({ isBoilerplate }) => !isBoilerplate) : blocks);
  }

  /** All of the text, for documents that have no boilerplate. */
  everything(): { readonly text: string; readonly isCut: boolean } {
    return joined(this.#blocks);
  }

  /** The `main` with the most text, or an article that has most of the text around it. */
  #ownRegion(lengthOf: (region: Pick<Region, 'start' | 'end'>) => number): Pick<Region, 'start' | 'end'> | undefined {
    let main: Region | undefined;
    let article: Region | undefined;
    for (const region of this.#regions) {
      if (region.kind === 'main' && (main === undefined || lengthOf(region) > lengthOf(main))) main = region;
      if (region.kind === 'article' && (article === undefined || lengthOf(region) > lengthOf(article)))
        article = region;
    }
    if (article === undefined) return main;
    const articles = this.#regions.filter(({ kind }) => kind === 'article');
    const around = main ?? {
      start: Math.min(...articles.map(({ start }) => start)),
      end: Math.max(...articles.map(({ end }) => end)),
    };
    const isInside = article.start >= around.start && article.end <= around.end;
    return isInside && lengthOf(article) >= OWN_SHARE * lengthOf(around) ? article : around;
  }

  #put(text: string, isBoilerplate: boolean): void {
    const linkLength = Math.min(text.length, this.#linkLength);
    this.#blocks.push({ text, linkLength, isParagraph: this.#isParagraph, isBoilerplate });
  }
}

/** Collapses blanks and keeps the line breaks that `<br>` made; two of them are a blank line. */
const linesOf = (text: string): string =>
  text.includes(LINE_BREAK)
    ? text
        .split(LINE_BREAK)
        .map(lineOf)
        .join('\n')
        .replace(/\n{3,}/g, '\n\n')
        .trim()
    : lineOf(text);

const preformattedText = (text: string): string =>
  withoutUnprintable(text.replaceAll(LINE_BREAK, '\n'))
    .replace(/\r\n?/g, '\n')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/^\n+/, '')
    .trimEnd();

/**
 * The run of blocks with the greatest sum of (characters outside links - BLOCK_COST): Kadane's algorithm. All blocks if none
 * is positive.
 */
function bestRun(blocks: readonly Block[]): Pick<Region, 'start' | 'end'> {
  let best = { start: 0, end: blocks.length };
  let bestSum = 0;
  let start = 0;
  let sum = 0;
  for (const [i, block] of blocks.entries()) {
    if (sum <= 0) {
      start = i;
      sum = 0;
    }
    sum += own(block) - BLOCK_COST;
    if (sum > bestSum) {
      bestSum = sum;
      best = { start, end: i + 1 };
    }
  }
  if (bestSum === 0) return best;
  // Extends the run by short blocks before and after it, such as headings, as long as they contain no link.
  const isPlain = (block: Block | undefined): boolean => block !== undefined && own(block) === block.text.length;
  for (let count = 0; count < NEIGHBOUR_COUNT_MAX && isPlain(blocks[best.start - 1]); count++) best.start--;
  for (let count = 0; count < NEIGHBOUR_COUNT_MAX && isPlain(blocks[best.end]); count++) best.end++;
  return best;
}

function joined(blocks: readonly Block[]): { readonly text: string; readonly isCut: boolean } {
  const pieces: string[] = [];
  let length = 0;
  for (const { text, isParagraph } of blocks) {
    if (pieces.length > 0) pieces.push(isParagraph ? '\n\n' : '\n');
    pieces.push(text);
    length += text.length;
    // Enough code units for the bound, even if all are pairs.
    if (length > 2 * TEXT_CODE_POINTS_MAX) break;
  }
  const whole = pieces.join('');
  const text = firstCodePoints(whole, TEXT_CODE_POINTS_MAX);
  return { text, isCut: text.length < whole.length };
}
