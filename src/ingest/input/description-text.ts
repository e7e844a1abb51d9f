/**
 * The plain text of a description, as the catalogue stores it (siblings §2). Plain text maps to itself, so that an
 * exported description comes back unchanged.
 */
import type { DescriptionFormat } from './description-format.ts';
import { htmlText, markupText } from './html-text.ts';

const LINE_ENDS = /\r\n?/g;

/**
 * Line breaks become line feeds, blanks at both ends are removed; '' when nothing is left.
 * @param format null: HTML where it has markup
 */
export function descriptionText(source: string, format: DescriptionFormat | null): string {
  const text = format === 'text' ? source : format === 'html' ? markupText(source) : htmlText(source);
  // A numeric entity can name half of a surrogate pair.
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return (whole.includes('\r') ? whole.replace(LINE_ENDS, '\n') : whole).trim();
}
