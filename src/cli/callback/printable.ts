/**
 * Text that strangers sent, made safe for a terminal: control characters appear as escapes, so that a webhook cannot move the
 * cursor or rewrite the screen.
 */
import { memberOf } from './json-parts.ts';

/** Characters of a body that a line for people shows. */
export const SHOWN_BODY_LENGTH = 200;

export interface EventAnswer {
  readonly id: string;
  readonly received_at: string;
  readonly method: string;
  readonly content_type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly size_bytes: number;
}

/** C0, DEL and C1: characters that a terminal may act on. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g;

export const escaped = (text: string): string =>
  text.replace(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** JSON text on one line. No raw tab or line break can stand inside a JSON string, so a space in its place changes no value. */
export const oneLine = (text: string): string => text.replace(/[\t\r\n]+/g, ' ');

/** One line for people. @param json text of an event; the line shows its body as the sender wrote it */
export function eventLine(json: string): string {
  const { id, received_at, method, content_type, size_bytes } = JSON.parse(json) as EventAnswer;
  const shown = oneLine(memberOf(json, 'body') ?? '');
  const cut = shown.length > SHOWN_BODY_LENGTH ? `${shown.slice(0, SHOWN_BODY_LENGTH)}…` : shown;
  return escaped(`${received_at}  ${id}  ${method} ${content_type} ${size_bytes} B  ${cut}`);
}
