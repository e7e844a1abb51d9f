/**
 * HTML text from templates. Whatever a template is given is escaped, unless it came out of a template itself; so a company
 * name is text wherever it stands, between tags or inside a quoted attribute.
 */
const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Finished HTML. Made by {@link html} only. */
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
  return String(part).replace(/[&<>"']/g, (character) => ESCAPES[character] as string);
};

/** A template tag; `undefined` leaves nothing, lists are joined. Attributes must be quoted in the template. */
export function html(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  let text = strings[0] as string;
  for (const [i, part] of parts.entries()) text += textOf(part) + strings[i + 1];
  return new Html(text);
}
