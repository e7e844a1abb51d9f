/** `callback verify`: checks the signature of a stored event. The exit code says whether it is valid. */
import { printable } from '../../base/printable.ts';
import { CommandError, command, EXIT_OK, UsageError } from '../command.ts';
import { objectFrom, read } from '../exchange.ts';
import { callbackOf, ID, json, token, tokenOf, url } from './callback-client.ts';
import { type EventAnswer, oneLine } from './event-line.ts';
import { SENDERS, signatureFaultOf } from './senders.ts';

export const verifyEvent = command({
  notes: [
    'Reads the secret from WEBHOOK_SECRET. svix and standardwebhooks accept a message only within five minutes of its sending.',
  ],
  arguments: [ID, { name: 'EVENT', help: 'id of the event, evt_…', count: 'one' }],
  options: {
    url,
    token,
    json,
    sender: { type: 'text', value: 'NAME', choices: SENDERS, help: 'service that signed the event', required: true },
  },
  async run({ options, arguments: [id, eventId] }, io) {
    const readToken = tokenOf(options.token, io);
    const secret = io.env.WEBHOOK_SECRET;
    if (secret === undefined || secret === '') throw new UsageError('the secret is missing: set WEBHOOK_SECRET');
    const target = `${callbackOf(id, options.url, io.env).own}/events`;
    const { events } = objectFrom<{ events: EventAnswer[] }>(await read(target, readToken), 'events');
    const event = events.find((candidate) => candidate.id === eventId);
    if (event === undefined) throw new CommandError('404 EVENT_NOT_FOUND: this callback has no such event');
    const { bytes } = await read(`${target}/${event.id}/raw`, readToken);
    const { headers, received_at } = event;
    const signed = { bytes, headers, secret, receivedAtMs: Date.parse(received_at) };
    const fault = await signatureFaultOf(options.sender, signed);
    if (options.json) {
      io.stdout.write(
        `${JSON.stringify({ event_id: event.id, sender: options.sender, valid: fault === null, fault })}\n`,
      );
    }
    if (fault !== null) throw new CommandError(`the signature is not valid: ${printable(oneLine(fault))}`);
    if (!options.json) io.stdout.write(`valid: signed by ${options.sender}, ${bytes.length} bytes\n`);
    return EXIT_OK;
  },
});
