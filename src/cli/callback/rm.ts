/** `callback rm`: deletes a callback before it expires. */
import { command, EXIT_OK } from '../command.ts';
import { read } from '../exchange.ts';
import { callbackOf, ID, json, token, tokenOf, url } from './callback-client.ts';
import { oneLine } from './event-line.ts';

export const removeCallback = command({
  arguments: [ID],
  options: { url, token, json },
  async run({ options, arguments: [id] }, io) {
    const { own } = callbackOf(id, options.url, io.env);
    const { text } = await read(own, tokenOf(options.token, io), { method: 'DELETE' });
    if (options.json) io.stdout.write(`${oneLine(text)}\n`);
    else io.stderr.write('deleted\n');
    return EXIT_OK;
  },
});
