/** `retry status`: shows the status of a job. */
import { command, EXIT_OK } from '../command.ts';
import { read } from '../exchange.ts';
import { addressOf, credentialOf, ID, json, show, token, url } from './retry-client.ts';

export const showRetry = command({
  arguments: [ID],
  options: { url, token, json },
  async run({ options, arguments: [id] }, io) {
    const credential = credentialOf(options.token, io);
    show(await read(addressOf(id, options.url, io.env), credential), options.json, io);
    return EXIT_OK;
  },
});
