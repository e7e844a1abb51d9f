/** Events as lines for people: text from unknown senders, made printable and shortened. */
import { memberText } from '../../base/json-member.ts';
import { printable } from '../../base/printable.ts';

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

/** JSON text on one line. A JSON string contains no raw tab or line break, so blanks for these change no value. */
export const oneLine = (text: string): string => text.replace(/[\t\r\n]+/g, ' ');

/** One line for people. @param json text of an event; the line shows its body as the sender wrote it */
export function eventLine(json: string): string {
  const { id, received_at, method, content_type, size_bytes } = JSON.parse(json) as EventAnswer;
  const shown = printable(oneLine(memberText(json, ['body']) ?? ''), SHOWN_BODY_LENGTH);
  return `${printable(`${received_at}  ${id}  ${method} ${content_type} ${size_bytes} B`)}  ${shown}`;
}
