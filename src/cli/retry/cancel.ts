/** `retry cancel`: ends a job, with a key of its organization. */
import { oneLine } from '../callback/event-line.ts';
import { command, EXIT_OK, UsageError } from '../command.ts';
import { read } from '../exchange.ts';
import { addressOf, ID, json, key, keyFrom, url } from './retry-client.ts';

export const cancelRetry = command({
  arguments: [ID],
  options: { url, key, json },
  async run({ options, arguments: [id] }, io) {
    const credential = keyFrom(options.key, io);
    if (credential === undefined) throw new UsageError('the API key is missing: set API_KEY, or --key');
    const address = addressOf(id, options.url, io.env);
    const answer = await read(`${address}/cancel`, credential, { method: 'POST' });
    if (options.json) io.stdout.write(`${oneLine(answer.text)}\n`);
    else io.stderr.write('cancelled\n');
    return EXIT_OK;
  },
});
