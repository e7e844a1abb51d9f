/** What a page says about itself in JSON-LD (schema.org): the first node with a value wins, in the order of the page. */
import { isDeeperThan } from '../../base/json-depth.ts';
import { isObject, type JsonObject, parseJson } from '../../base/json-value.ts';

/** Bounds: characters of one block, its nesting, and nodes of a page. */
export const LD_LENGTH_MAX = 524_288;
const LD_DEPTH_MAX = 64;
const LD_NODE_COUNT_MAX = 500;

/** Types that say nothing about the page itself. */
const OTHER_TYPES =
  /^(?:.*[/#])?(?:Organization|NewsMediaOrganization|Corporation|Person|WebSite|BreadcrumbList|ListItem|SearchAction|ImageObject|SiteNavigationElement|WPHeader|WPFooter|LocalBusiness|Rating|AggregateRating|Offer|Comment|Answer)$/;

const typesOf = ({ '@type': type }: JsonObject): string[] =>
  (Array.isArray(type) ? type : [type]).filter((one): one is string => typeof one === 'string');

/** Wrappers that hide a block from old browsers or XML parsers. Anchored, and applied after trimming, for linear time. */
const WRAPPER_START = /^(?:<!--|\/\*<!\[CDATA\[\*\/|(?:\/\/ ?)?<!\[CDATA\[)/;
const WRAPPER_END = /(?:-->|\/\*\]\]>\*\/|(?:\/\/ ?)?\]\]>)$/;

/** The nodes that describe the page: top-level nodes, those in lists and graphs, and their main entities. */
export class JsonLd {
  readonly #nodes: JsonObject[] = [];

  /** Adds a block; one that is not JSON, too long or too deep is ignored. */
  add(text: string): void {
    if (text.length >= LD_LENGTH_MAX || isDeeperThan(LD_DEPTH_MAX, text)) return;
    // Many pages have broken blocks, which have no value.
    this.#gather(parseJson(text.trim().replace(WRAPPER_START, '').replace(WRAPPER_END, '')));
  }

  /** The first text that `read` finds in a node of the page. */
  first(read: (node: JsonObject) => string | undefined): string | undefined {
    for (const node of this.#nodes) {
      const found = read(node);
      if (found !== undefined && found.trim() !== '') return found;
    }
    return undefined;
  }

  #gather(value: unknown): void {
    if (this.#nodes.length >= LD_NODE_COUNT_MAX) return;
    if (Array.isArray(value)) {
      for (const one of value.slice(0, LD_NODE_COUNT_MAX)) this.#gather(one);
      return;
    }
    if (!isObject(value)) return;
    if (typesOf(value).some((type) => !OTHER_TYPES.test(type))) this.#nodes.push(value);
    this.#gather(value['@graph']);
    this.#gather(value.mainEntity);
  }
}

/** A text itself, the first text of a list, or a member of an object. */
export function textIn(value: unknown, member: string): string | undefined {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return textIn(value[0], member);
  if (!isObject(value)) return undefined;
  const found = value[member];
  return typeof found === 'string' ? found : undefined;
}
