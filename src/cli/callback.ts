/**
 * `paygrade callback`: a customer of the callbacks, from outside. `new` pays for an address, `wait` follows what arrives,
 * `events` lists, `rm` deletes, `verify` checks a sender's signature over the exact bytes with that sender's own library.
 *
 * The read token is printed by `new` and nowhere else. What strangers sent is printed with its control characters escaped:
 * a webhook must not be able to write to a terminal.
 */
import { Buffer } from 'node:buffer';
import { CommandError, type CommandGroup, command, EXIT_OK, type TextOption, UsageError } from './command.ts';
import type { Io } from './io.ts';
import { memberOf, partsOf } from './json-parts.ts';
import { optional } from './optional-package.ts';
import { ANSWER_TIMEOUT_MS, baseOf, noAnswer, payingClient, URL_OPTION } from './paying-client.ts';

/** Characters of a body that people are shown. */
const SHOWN_BODY_LENGTH = 200;

const url = URL_OPTION;
const token: TextOption = { type: 'text', value: 'TOKEN', help: 'read token; READ_TOKEN in the environment is better' };
const json = { type: 'flag', help: 'JSON on stdout, a line each' } as const;
const ID = { name: 'ID', help: 'the callback, cb_…', count: 'one' } as const;

interface CallbackAnswer {
  readonly id: string;
  readonly callback_url: string;
  readonly read_token: string;
  readonly expires_at: string;
}

interface EventAnswer {
  readonly id: string;
  readonly received_at: string;
  readonly method: string;
  readonly content_type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly size_bytes: number;
}

interface ErrorAnswer {
  readonly error?: { readonly code?: string; readonly message?: string };
}

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly bytes: Uint8Array;
}

function tokenOf(given: string | undefined, io: Io): string {
  const found = given ?? io.env.READ_TOKEN;
  if (found === undefined || found === '')
    throw new UsageError('the read token is missing: set READ_TOKEN, or --token');
  return found;
}

/** C0, DEL and C1: what a terminal might obey. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g;
const escaped = (text: string): string =>
  text.replace(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** JSON text on one line. No tab or line break stands inside a JSON string, so a blank in its place changes no value. */
const oneLine = (text: string): string => text.replace(/[\t\r\n]+/g, ' ');

async function exchange(target: string, init: RequestInit, send: typeof fetch = fetch): Promise<Answer> {
  let response: Response;
  let bytes: Uint8Array;
  try {
    const timeout = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
    response = await send(target, { ...init, signal });
    bytes = new Uint8Array(await response.arrayBuffer());
  } catch (failure) {
    throw noAnswer(target, failure);
  }
  return { status: response.status, text: new TextDecoder().decode(bytes), bytes };
}

function errorOf({ text }: Answer): { readonly code: string; readonly message: string } {
  try {
    const { error } = JSON.parse(text) as ErrorAnswer;
    return { code: error?.code ?? 'no code', message: error?.message ?? '' };
  } catch {
    return { code: 'no code', message: escaped(text.slice(0, SHOWN_BODY_LENGTH)) };
  }
}

function refused(answer: Answer): CommandError {
  const { code, message } = errorOf(answer);
  return new CommandError(`${answer.status} ${code}: ${message}`);
}

async function read(target: string, readToken: string, method = 'GET'): Promise<Answer> {
  const answer = await exchange(target, { method, headers: { authorization: `Bearer ${readToken}` } });
  if (answer.status !== 200) throw refused(answer);
  return answer;
}

const create = command({
  name: 'new',
  summary: 'Pays for a callback and prints its address and read token',
  notes: [
    'Pays with the key in PRIVATE_KEY. Without one a throwaway wallet is made, which can pay a server with SETTLEMENT=local.',
  ],
  options: { url, json },
  async run({ options }, io) {
    const base = baseOf(options.url);
    const { address, payingFetch } = await payingClient(io.env.PRIVATE_KEY || undefined);
    io.stderr.write(`paying from ${address}\n`);
    const answer = await exchange(`${base}/v1/callbacks`, { method: 'POST' }, payingFetch);
    if (answer.status !== 201) throw refused(answer);
    const callback = JSON.parse(answer.text) as CallbackAnswer;
    if (options.json) {
      io.stdout.write(`${answer.text}\n`);
      return EXIT_OK;
    }
    io.stdout.write(`id            ${callback.id}\n`);
    io.stdout.write(`callback_url  ${callback.callback_url}\n`);
    io.stdout.write(`read_token    ${callback.read_token}\n`);
    io.stdout.write(`expires_at    ${callback.expires_at}\n`);
    return EXIT_OK;
  },
});

/** One line for people, of an event's JSON text; the body as it came. */
function eventLine(json: string): string {
  const { id, received_at, method, content_type, size_bytes } = JSON.parse(json) as EventAnswer;
  const shown = oneLine(memberOf(json, 'body') ?? '');
  const cut = shown.length > SHOWN_BODY_LENGTH ? `${shown.slice(0, SHOWN_BODY_LENGTH)}…` : shown;
  return escaped(`${received_at}  ${id}  ${method} ${content_type} ${size_bytes} B  ${cut}`);
}

/** Codes that end a wait as it should end; an `--after` that is not known is not among them. */
const ENDS: ReadonlySet<string> = new Set(['CALLBACK_EXPIRED', 'CALLBACK_NOT_FOUND']);

const wait = command({
  name: 'wait',
  summary: 'Follows the events of a callback as they come, until it ends',
  notes: ['Ends with 0 when the callback has expired or was deleted, after --count events, or at Ctrl-C.'],
  arguments: [ID],
  options: {
    url,
    token,
    json,
    after: { type: 'text', value: 'EVENT', help: 'only events after this one' },
    count: { type: 'integer', value: 'N', min: 1, max: 10, help: 'end after so many events', default: 10 },
  },
  async run({ options, arguments: [id] }, io) {
    const readToken = tokenOf(options.token, io);
    const base = baseOf(options.url);
    const headers = { authorization: `Bearer ${readToken}` };
    const own = `/v1/callbacks/${encodeURIComponent(id as string)}`;
    let path = `${own}/wait`;
    if (options.after !== undefined) path += `?after=${encodeURIComponent(options.after)}`;
    const interrupt = new AbortController();
    const stopListening = io.onSignal('SIGINT', () => interrupt.abort());
    try {
      // Seen once, so that an id which is gone later has ended, and one that never was is an error.
      const seen = await exchange(`${base}${own}/events`, { headers, signal: interrupt.signal });
      if (seen.status !== 200 && seen.status !== 410) throw refused(seen);
      for (let eventCount = 0; eventCount < options.count; ) {
        const answer = await exchange(base + path, { headers, signal: interrupt.signal });
        if (answer.status === 410 || answer.status === 404) {
          const { code } = errorOf(answer);
          if (!ENDS.has(code)) throw refused(answer);
          io.stderr.write(`the callback has ended: ${code}\n`);
          break;
        }
        if (answer.status === 429) {
          await new Promise((resolve) => setTimeout(resolve, 1_000));
          continue;
        }
        if (answer.status !== 200) throw refused(answer);
        const waited = JSON.parse(answer.text) as { received: boolean; next_wait_url: string };
        if (!waited.received) continue;
        const event = memberOf(answer.text, 'event') ?? '';
        io.stdout.write(`${options.json ? oneLine(event) : eventLine(event)}\n`);
        if (!(await io.stdout.taken())) break;
        path = waited.next_wait_url;
        eventCount++;
      }
    } catch (failure) {
      if (!interrupt.signal.aborted) throw failure;
    } finally {
      stopListening();
    }
    return EXIT_OK;
  },
});

const list = command({
  name: 'events',
  summary: 'Lists the stored events of a callback',
  notes: ['With --json the answer of the server, on one line, values as they were sent.'],
  arguments: [ID],
  options: { url, token, json },
  async run({ options, arguments: [id] }, io) {
    const target = `${baseOf(options.url)}/v1/callbacks/${encodeURIComponent(id as string)}/events`;
    const { text } = await read(target, tokenOf(options.token, io));
    if (options.json) {
      io.stdout.write(`${oneLine(text)}\n`);
      return EXIT_OK;
    }
    const { expires_at } = JSON.parse(text) as { expires_at: string };
    const events = partsOf(memberOf(text, 'events') ?? '');
    for (const event of events) io.stdout.write(`${eventLine(event)}\n`);
    io.stderr.write(`${events.length} of 10 events; expires at ${expires_at}\n`);
    return EXIT_OK;
  },
});

const remove = command({
  name: 'rm',
  summary: 'Deletes a callback and its events',
  arguments: [ID],
  options: { url, token, json },
  async run({ options, arguments: [id] }, io) {
    const target = `${baseOf(options.url)}/v1/callbacks/${encodeURIComponent(id as string)}`;
    const { text } = await read(target, tokenOf(options.token, io), 'DELETE');
    if (options.json) io.stdout.write(`${text}\n`);
    else io.stderr.write('deleted\n');
    return EXIT_OK;
  },
});

export const SENDERS = ['stripe', 'svix', 'standardwebhooks', 'github'] as const;
type Sender = (typeof SENDERS)[number];

interface Signed {
  readonly bytes: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  readonly secret: string;
  /** Milliseconds since 1970. */
  readonly receivedAtMs: number;
}

/** Seconds around its receipt within which Stripe's own timestamp must lie. */
const STRIPE_TOLERANCE_SECONDS = 300;

/** Null when the sender's library accepts the signature, otherwise what it says. */
async function faultOf(sender: Sender, { bytes, headers, secret, receivedAtMs }: Signed): Promise<string | null> {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const purpose = 'verifying needs the sender’s own library';
  let verify: () => unknown;
  switch (sender) {
    case 'stripe': {
      const { default: Stripe } = await optional(() => import('stripe'), purpose, 'stripe');
      const { webhooks } = new Stripe('sk_not_used');
      const signature = headers['stripe-signature'] ?? '';
      verify = () =>
        webhooks.constructEvent(body, signature, secret, STRIPE_TOLERANCE_SECONDS, undefined, receivedAtMs);
      break;
    }
    case 'svix': {
      const { Webhook } = await optional(() => import('svix'), purpose, 'svix');
      verify = () => new Webhook(secret).verify(body, headers);
      break;
    }
    case 'standardwebhooks': {
      const { Webhook } = await optional(() => import('standardwebhooks'), purpose, 'standardwebhooks');
      verify = () => new Webhook(secret).verify(body, headers);
      break;
    }
    case 'github': {
      const { Webhooks } = await optional(() => import('@octokit/webhooks'), purpose, '@octokit/webhooks');
      verify = async () => {
        const signature = headers['x-hub-signature-256'] ?? '';
        if (!(await new Webhooks({ secret }).verify(body.toString('utf8'), signature))) throw new Error('no match');
      };
      break;
    }
    default:
      return sender satisfies never;
  }
  try {
    await verify();
    return null;
  } catch (failure) {
    return (failure as Error).message;
  }
}

const verify = command({
  name: 'verify',
  summary: 'Checks the signature of a stored event with the sender’s own library',
  notes: [
    'The secret is read from WEBHOOK_SECRET. svix and standardwebhooks accept a message for five minutes after it was sent.',
  ],
  arguments: [ID, { name: 'EVENT', help: 'the event, evt_…', count: 'one' }],
  options: {
    url,
    token,
    json,
    sender: { type: 'text', value: 'NAME', choices: SENDERS, help: 'who signed it', required: true },
  },
  async run({ options, arguments: [id, eventId] }, io) {
    const readToken = tokenOf(options.token, io);
    const secret = io.env.WEBHOOK_SECRET;
    if (secret === undefined || secret === '') throw new UsageError('the secret is missing: set WEBHOOK_SECRET');
    const target = `${baseOf(options.url)}/v1/callbacks/${encodeURIComponent(id as string)}/events`;
    const { events } = JSON.parse((await read(target, readToken)).text) as { events: EventAnswer[] };
    const event = events.find((candidate) => candidate.id === eventId);
    if (event === undefined) throw new CommandError('404 EVENT_NOT_FOUND: this callback has no such event');
    const { bytes } = await read(`${target}/${event.id}/raw`, readToken);
    const { headers, received_at } = event;
    const signed = { bytes, headers, secret, receivedAtMs: Date.parse(received_at) };
    const fault = await faultOf(options.sender as Sender, signed);
    if (options.json) {
      io.stdout.write(
        `${JSON.stringify({ event_id: event.id, sender: options.sender, valid: fault === null, fault })}\n`,
      );
    }
    if (fault !== null) throw new CommandError(`the signature is not valid: ${escaped(oneLine(fault))}`);
    if (!options.json) io.stdout.write(`valid: signed by ${options.sender}, ${bytes.length} bytes\n`);
    return EXIT_OK;
  },
});

export const callbackCommands: CommandGroup = {
  kind: 'group',
  name: 'callback',
  summary: 'Webhook addresses for ten minutes',
  commands: [create, wait, list, remove, verify],
};
