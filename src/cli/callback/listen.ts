/**
 * `callback listen --forward-to URL`: forwards each event of a callback to the user's own server, usually on this
 * machine, and shows its answer. It buys the callback unless one is named, and with `--renew N` up to N more, each when
 * the previous one has ended.
 */
import { quantity } from '../../base/grouped.ts';
import { printable } from '../../base/printable.ts';
import { EVENT_COUNT_MAX } from '../../callback/limits.ts';
import { command, EXIT_FAILED, EXIT_OK, UsageError } from '../command.ts';
import type { Io } from '../io.ts';
import { type PayingClient, walletOf } from '../paying-client.ts';
import { serverOf } from '../server-address.ts';
import { buyCallback, callbackLines } from './buy.ts';
import { callbackOf, ID, json, type NamedCallback, token, tokenOf, url } from './callback-client.ts';
import { type EventAnswer, oneLine, SHOWN_BODY_LENGTH } from './event-line.ts';
import { eventsOf, untilInterrupted } from './follow.ts';
import { type Forwarded, forwardEvent } from './forward.ts';

/** Most callbacks that one run buys: a week's worth. */
const RENEW_MAX = 1_000;

interface Listened {
  readonly callback: NamedCallback;
  readonly readToken: string;
}

/** @throws UsageError */
function targetOf(text: string): string {
  if (URL.canParse(text) && /^https?:/i.test(text)) return text;
  throw new UsageError('--forward-to must be an address such as http://localhost:3000/hook');
}

class Listening {
  readonly #target: string;
  readonly #isJson: boolean;
  readonly #io: Io;
  /** Events that the target did not answer. */
  unansweredCount = 0;

  constructor(target: string, isJson: boolean, io: Io) {
    this.#target = target;
    this.#isJson = isJson;
    this.#io = io;
  }

  /** Buys a callback and shows it. @param isRenewal the sender still has the previous callback's address */
  async buy(base: string, wallet: PayingClient, isRenewal: boolean): Promise<Listened> {
    const { stdout, stderr } = this.#io;
    const bought = await buyCallback(base, wallet, this.#io);
    stdout.write(this.#isJson ? `${JSON.stringify({ callback: JSON.parse(bought.text) })}\n` : callbackLines(bought));
    if (isRenewal) {
      stderr.write(
        `a new callback: its address is another one, so the sender must be told ${printable(bought.callbackUrl)}\n`,
      );
    }
    return { callback: callbackOf(bought.id, base, {}), readToken: bought.readToken };
  }

  /** Forwards the events of one callback until it ends or is full. */
  async forwardAll({ callback, readToken }: Listened, after: string | undefined, signal: AbortSignal): Promise<void> {
    const { stdout, stderr } = this.#io;
    const events = eventsOf({ callback, readToken, after, signal, io: this.#io });
    for (let eventCount = 0; eventCount < EVENT_COUNT_MAX; eventCount++) {
      const next = await events.next();
      if (next.done) {
        stderr.write(`the callback has ended: ${next.value}\n`);
        return;
      }
      const event = JSON.parse(next.value) as EventAnswer;
      const forwarded = await forwardEvent(event, this.#target, { own: callback.own, readToken, signal });
      if (forwarded.kind === 'unanswered') this.unansweredCount++;
      stdout.write(this.#isJson ? this.#jsonLine(event, forwarded) : this.#line(event, forwarded));
    }
    stderr.write(`the callback has had its ${EVENT_COUNT_MAX} events and receives no more\n`);
  }

  #line({ id, received_at, method, size_bytes }: EventAnswer, forwarded: Forwarded): string {
    const event = `${received_at}  ${id}  ${method} ${size_bytes} B`;
    const { origin } = new URL(this.#target);
    const result =
      forwarded.kind === 'answered'
        ? `${forwarded.status}  ${oneLine(forwarded.body).slice(0, SHOWN_BODY_LENGTH)}`.trimEnd()
        : `no answer from ${origin} (${forwarded.reason}); the event stays at the callback until it ends`;
    return `${printable(`${event} -> ${result}`, Number.POSITIVE_INFINITY)}\n`;
  }

  #jsonLine(event: EventAnswer, forwarded: Forwarded): string {
    const { id: event_id, received_at, method, size_bytes } = event;
    const answer = forwarded.kind === 'answered' ? { status: forwarded.status, body: forwarded.body } : null;
    const fault = forwarded.kind === 'answered' ? null : forwarded.reason;
    return `${JSON.stringify({ event_id, received_at, method, size_bytes, forwarded_to: this.#target, answer, fault })}\n`;
  }
}

export const listenAndForward = command({
  notes: [
    'Each event goes on as it came: method, bytes, and the headers that the callback retains, signatures among them. A redirect is shown and not followed.',
    'Without CALLBACK it buys one, as `callback new` does. A callback ends after ten minutes or ten events; --renew N buys up to N more, each when the one before has ended. You have to give each new address to the sender.',
    'While it waits, the server may be away for a minute, for example during a restart.',
    'Exit code 1: an event got no answer. Ctrl-C ends it.',
  ],
  arguments: [{ ...ID, count: 'optional' }],
  options: {
    'forward-to': {
      type: 'text',
      value: 'URL',
      help: 'where events go, for example http://localhost:3000/hook',
      required: true,
    },
    url,
    token,
    after: { type: 'text', value: 'EVENT', help: 'only events after this one' },
    renew: {
      type: 'integer',
      value: 'N',
      min: 0,
      max: RENEW_MAX,
      help: 'callbacks to buy after the first',
      default: 0,
    },
    json,
  },
  async run({ options, arguments: [named] }, io) {
    const listening = new Listening(targetOf(options['forward-to']), options.json, io);
    if (named === undefined && options.after !== undefined) throw new UsageError('--after goes with a CALLBACK');
    if (named === undefined && options.token !== undefined) throw new UsageError('--token goes with a CALLBACK');
    const given: Listened | undefined =
      named === undefined
        ? undefined
        : { callback: callbackOf(named, options.url, io.env), readToken: tokenOf(options.token, io) };
    const base = given?.callback.base ?? serverOf(options.url, io.env);
    const wallet = given === undefined || options.renew > 0 ? await walletOf(io) : undefined;
    await untilInterrupted(io, async (signal) => {
      await listening.forwardAll(given ?? (await listening.buy(base, wallet!, false)), options.after, signal);
      for (let bought = 0; bought < options.renew && !signal.aborted; bought++) {
        await listening.forwardAll(await listening.buy(base, wallet!, true), undefined, signal);
      }
    });
    const { unansweredCount } = listening;
    if (unansweredCount === 0) return EXIT_OK;
    io.stderr.write(`${quantity(unansweredCount, 'event')} got no answer\n`);
    return EXIT_FAILED;
  },
});
