/** The metadata of a page, each value from the first source that has it, in the order of siblings §7. */
import { TARGET_LENGTH_MAX } from '../../outbound/limits.ts';
import { DESCRIPTION_MAX, SHORT_VALUE_MAX } from '../limits.ts';
import type { PageMetadata } from '../result.ts';
import { JsonLd, textIn } from './json-ld.ts';
import { shortLine } from './plain-text.ts';

/** Names in `meta` that are kept: the first value of each. */
const META_NAMES: ReadonlySet<string> = new Set([
  'description',
  'og:title',
  'og:description',
  'og:url',
  'og:site_name',
  'og:locale',
  'og:image',
  'og:image:url',
  'og:image:secure_url',
  'article:published_time',
]);

/** An absolute http or https address, or null. @param text as written in the page */
export function addressIn(text: string | null | undefined, base: URL): string | null {
  const written = text?.trim();
  if (written === undefined || written === '' || written.length > TARGET_LENGTH_MAX) return null;
  const url = URL.parse(written, base);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  return url.href.length > TARGET_LENGTH_MAX ? null : url.href;
}

export class MetadataReader {
  readonly #metas = new Map<string, string>();
  readonly #ld = new JsonLd();
  #title: string | null = null;
  #canonical: string | undefined;
  #language: string | null = null;
  #time: string | undefined;

  onElement(name: string, attributes: ReadonlyMap<string, string>): void {
    switch (name) {
      case 'html':
        this.#language ??= shortLine(attributes.get('lang'), SHORT_VALUE_MAX);
        return;
      case 'meta':
        this.#meta(attributes);
        return;
      case 'link':
        if (/(?:^|\s)canonical(?:\s|$)/i.test(attributes.get('rel') ?? '')) {
          const href = attributes.get('href')?.trim();
          if (href !== undefined && href !== '') this.#canonical ??= href;
        }
        return;
      case 'time':
        this.#time ??= attributes.get('datetime')?.trim() || undefined;
        return;
      default:
    }
  }

  onTitle(text: string): void {
    this.#title ??= shortLine(text, SHORT_VALUE_MAX);
  }

  onJsonLd(text: string): void {
    this.#ld.add(text);
  }

  /** @param base what relative addresses are relative to */
  metadata(base: URL): PageMetadata {
    const meta = (name: string): string | null => this.#metas.get(name) ?? null;
    const ld = this.#ld;
    const short = (...found: readonly (string | null | undefined)[]): string | null => firstOf(found, SHORT_VALUE_MAX);
    return {
      title: short(
        this.#title,
        meta('og:title'),
        // A JobPosting has a title in place of a headline.
        ld.first(({ headline, name, title }) =>
          [headline, name, title]
            .map((value) => textIn(value, '@value'))
            .find((text) => text !== undefined && text.trim() !== ''),
        ),
      ),
      description: firstOf(
        [meta('description'), meta('og:description'), ld.first(({ description }) => textIn(description, '@value'))],
        DESCRIPTION_MAX,
      ),
      canonical_url: addressIn(this.#canonical, base) ?? addressIn(meta('og:url'), base),
      site_name: short(
        meta('og:site_name'),
        ld.first(({ publisher }) => textIn(publisher, 'name')),
      ),
      language: short(this.#language, meta('og:locale')?.replaceAll('_', '-')),
      image_url:
        addressIn(meta('og:image') ?? meta('og:image:url') ?? meta('og:image:secure_url'), base) ??
        addressIn(
          ld.first(({ image }) => textIn(image, 'url')),
          base,
        ),
      published_at: short(
        ld.first(({ datePublished }) => textIn(datePublished, '@value')),
        meta('article:published_time'),
        this.#time,
      ),
    };
  }

  #meta(attributes: ReadonlyMap<string, string>): void {
    const content = attributes.get('content')?.trim();
    if (content === undefined || content === '') return;
    for (const attribute of ['name', 'property'] as const) {
      // Some pages write several names into one attribute.
      for (const name of (attributes.get(attribute) ?? '').toLowerCase().split(/\s+/, 8)) {
        if (META_NAMES.has(name) && !this.#metas.has(name)) this.#metas.set(name, content);
      }
    }
  }
}

function firstOf(found: readonly (string | null | undefined)[], codePointsMax: number): string | null {
  for (const text of found) {
    const line = shortLine(text, codePointsMax);
    if (line !== null) return line;
  }
  return null;
}
