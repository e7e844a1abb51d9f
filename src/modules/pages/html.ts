/**
 * HTML text from templates. A template escapes every value except the result of another template, so a company name stays text
 * both between tags and inside a quoted attribute.
 */
import { escapedHtml } from '../../base/html-escape.ts';

/** Finished HTML, which only {@link html} makes. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type HtmlPart = Html | string | number | undefined | readonly HtmlPart[];

const textOf = (part: HtmlPart): string => {
  if (part instanceof Html) return part.text;
  if (part === undefined) return '';
  if (typeof part === 'object') return part.map(textOf).join('');
  return escapedHtml(String(part));
};

/** A template tag. It writes nothing for `undefined` and joins lists. Templates must quote their attributes. */
export function html(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  let text = strings[0] as string;
  for (const [i, part] of parts.entries()) text += textOf(part) + strings[i + 1];
  return new Html(text);
}
