/** Reads an HTML page in one pass: metadata, readable text and links. */
import { TITLE_LENGTH_MAX } from '../limits.ts';
import { LD_LENGTH_MAX } from './json-ld.ts';
import { type MarkupReader, readMarkup } from './markup.ts';
import { LinkReader } from './page-links.ts';
import { MetadataReader } from './page-metadata.ts';
import { type RegionKind, TextBlocks } from './text-blocks.ts';

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Elements whose content is not shown as text. */
const UNREAD = words(
  `script style template noscript svg math select datalist textarea iframe noframes noembed object audio video canvas
  button title`,
);

/** Elements that are boilerplate of a page; roles follow. */
const BOILERPLATE = words('nav footer aside menu search dialog');
const BOILERPLATE_ROLES = words(
  'navigation banner contentinfo complementary search dialog alertdialog menu menubar toolbar tablist',
);

/** Elements that begin and end a block. */
const BREAKING = words(
  `address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form
  h1 h2 h3 h4 h5 h6 head header hgroup hr html legend li main menu nav ol option p pre search section summary table tbody td tfoot
  th thead tr ul`,
);

/** Those among them that get a blank line around them. */
const PARAGRAPHS = words('blockquote dl h1 h2 h3 h4 h5 h6 hr ol p pre table ul figure section article');

const HIDDEN_STYLE = /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)/i;

/** Never taken as hidden: pages hide these only while loading, or behind a dialog. */
const NEVER_HIDDEN = words('html body main article');

function isHidden(name: string, attributes: ReadonlyMap<string, string>): boolean {
  if (NEVER_HIDDEN.has(name)) return false;
  return (
    attributes.has('hidden') ||
    attributes.get('aria-hidden') === 'true' ||
    HIDDEN_STYLE.test(attributes.get('style') ?? '')
  );
}

/** What an open container means for the text in it. */
interface Part {
  readonly isUnread: boolean;
  readonly isBoilerplate: boolean;
  readonly isPreformatted: boolean;
  readonly region: RegionKind | undefined;
  /** Where the text directly in it goes. */
  readonly gathers: 'title' | 'json-ld' | undefined;
}

class HtmlPage implements MarkupReader {
  readonly metadata = new MetadataReader();
  readonly blocks = new TextBlocks();
  readonly links = new LinkReader();
  /** The first `base` with an address, as written. */
  baseHref: string | undefined;
  readonly #parts: Part[] = [];
  #unreadCount = 0;
  #boilerplateCount = 0;
  #preformattedCount = 0;
  #regionCount = 0;
  #foreignCount = 0;
  #gathered = '';

  onOpen(name: string, attributes: ReadonlyMap<string, string>, isNested: boolean): void {
    this.metadata.onElement(name, attributes);
    if (name === 'a') this.links.open(attributes);
    else if (name === 'img') this.links.onImage(attributes);
    else if (name === 'br' && this.#unreadCount === 0) this.blocks.lineBreak();
    else if (name === 'base') this.baseHref ??= attributes.get('href');
    if (BREAKING.has(name)) this.#break(name, name === 'li' ? '- ' : '');
    if (name === 'br' || BREAKING.has(name)) this.links.onBreak();
    if (isNested) this.#enter(name, attributes);
  }

  onClose(name: string): void {
    if (BREAKING.has(name)) this.#break(name);
    const part = this.#parts.pop();
    if (part === undefined) return;
    if (part.gathers === 'title') this.metadata.onTitle(this.#gathered);
    if (part.gathers === 'json-ld') this.metadata.onJsonLd(this.#gathered);
    if (part.region !== undefined) {
      this.#regionCount--;
      this.blocks.closeRegion();
    }
    if (part.isUnread) this.#unreadCount--;
    if (part.isBoilerplate) this.#boilerplateCount--;
    if (part.isPreformatted) this.#preformattedCount--;
    if (name === 'svg' || name === 'math') this.#foreignCount--;
  }

  onLooseEnd(name: string): void {
    if (name === 'a') this.links.close();
    if (BREAKING.has(name)) this.#break(name);
  }

  onText(text: string): void {
    const gathers = this.#parts.at(-1)?.gathers;
    if (gathers !== undefined) {
      const lengthMax = gathers === 'title' ? TITLE_LENGTH_MAX : LD_LENGTH_MAX;
      if (this.#gathered.length < lengthMax) this.#gathered += text.slice(0, lengthMax);
      return;
    }
    if (this.#unreadCount > 0) return;
    this.links.onText(text);
    this.blocks.add(text, this.links.isOpen);
  }

  #break(name: string, prefix = ''): void {
    this.blocks.end({
      isBoilerplate: this.#boilerplateCount > 0,
      isParagraph: PARAGRAPHS.has(name),
      isPreformatted: this.#preformattedCount > 0,
      prefix,
    });
  }

  #enter(name: string, attributes: ReadonlyMap<string, string>): void {
    const role = attributes.get('role')?.trim().toLowerCase() ?? '';
    const region = name === 'main' || role === 'main' ? 'main' : name === 'article' ? 'article' : undefined;
    const isLd = name === 'script' && /^\s*application\/ld\+json\b/i.test(attributes.get('type') ?? '');
    const isTitle = name === 'title' && this.#foreignCount === 0;
    const part: Part = {
      isUnread: UNREAD.has(name),
      isBoilerplate:
        region === undefined &&
        (BOILERPLATE.has(name) ||
          BOILERPLATE_ROLES.has(role) ||
          // A header within the article has its headline.
          (name === 'header' && this.#regionCount === 0) ||
          isHidden(name, attributes)),
      isPreformatted: name === 'pre',
      region,
      gathers: isTitle ? 'title' : isLd ? 'json-ld' : undefined,
    };
    this.#parts.push(part);
    if (part.gathers !== undefined) this.#gathered = '';
    if (region !== undefined) {
      this.#regionCount++;
      this.blocks.openRegion(region);
    }
    if (part.isUnread) this.#unreadCount++;
    if (part.isBoilerplate) this.#boilerplateCount++;
    if (part.isPreformatted) this.#preformattedCount++;
    if (name === 'svg' || name === 'math') this.#foreignCount++;
  }
}

/** @param isXhtml an element may close itself: `<script src="a.js"/>` has no content */
export function readHtml(text: string, isXhtml: boolean): HtmlPage {
  const page = new HtmlPage();
  readMarkup(text, page, isXhtml ? 'xhtml' : 'html');
  page.blocks.end();
  return page;
}
