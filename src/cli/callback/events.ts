/** `callback events`: lists the stored events of a callback. */
import { elementTexts, memberText } from '../../base/json-member.ts';
import { printable } from '../../base/printable.ts';
import { command, EXIT_OK } from '../command.ts';
import { objectFrom, read } from '../exchange.ts';
import { callbackOf, ID, json, token, tokenOf, url } from './callback-client.ts';
import { eventLine, oneLine } from './event-line.ts';

export const listEvents = command({
  notes: ['With --json it prints the answer of the server on one line, with every value as the server wrote it.'],
  arguments: [ID],
  options: { url, token, json },
  async run({ options, arguments: [id] }, io) {
    const target = `${callbackOf(id, options.url, io.env).own}/events`;
    const answer = await read(target, tokenOf(options.token, io));
    const { expires_at } = objectFrom<{ events: unknown; expires_at: string }>(answer, 'events');
    if (options.json) {
      io.stdout.write(`${oneLine(answer.text)}\n`);
      return EXIT_OK;
    }
    const events = elementTexts(memberText(answer.text, ['events']) ?? '');
    for (const event of events) io.stdout.write(`${eventLine(event)}\n`);
    io.stderr.write(`${events.length} of 10 events; expires at ${printable(String(expires_at))}\n`);
    return EXIT_OK;
  },
});
