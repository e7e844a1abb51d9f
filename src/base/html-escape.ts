/** Text as HTML shows it, between tags and inside a quoted attribute. */

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export const escapedHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character]!);
