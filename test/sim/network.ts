/**
 * Between clients and the server: requests and answers are delayed, dropped, doubled and overtake one another; clients go
 * away. Every answer that the server gives is judged, whether or not anybody receives it.
 */
import { BODY_DEADLINE_MS } from '../../src/retry/limits.ts';
import type { Chance } from '../support/chance.ts';
import type { Profile } from './profile.ts';
import type { Answer, Exchange, Server } from './server.ts';
import type { World } from './world.ts';

export interface Sending {
  readonly name: string;
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
  /** The second half of the body comes so much later. */
  readonly slowMs?: number | undefined;
  readonly address?: string | undefined;
  /** The client may go away before it has its answer. */
  readonly mayLeave?: boolean | undefined;
  /** It has come to the server: once, or twice when it was doubled. */
  readonly onArrival?: ((exchange: Exchange) => void) | undefined;
  /** In the turn in which the server gave it. */
  readonly judge: (answer: Answer, exchange: Exchange) => void;
  /** The client has it; not called when it was lost. */
  readonly onAnswer?: ((answer: Answer) => void) | undefined;
  /** The client gives up. */
  readonly onLost?: (() => void) | undefined;
  /** The process died with it. */
  readonly onCut?: (() => void) | undefined;
}

const encoder = new TextEncoder();

export class Network {
  isHealed = false;
  readonly #world: World;
  readonly #chance: Chance;
  readonly #profile: Profile;
  readonly #server: Server;
  readonly #sendings = new Map<Exchange, { sending: Sending; isFirst: boolean }>();
  readonly #requestIds = new Set<string>();

  constructor(world: World, chance: Chance, profile: Profile, server: Server) {
    this.#world = world;
    this.#chance = chance;
    this.#profile = profile;
    this.#server = server;
    server.onAnswer = (exchange, answer) => this.#answered(exchange, answer);
    server.onKill = () => this.#cut();
    server.onCut = (exchange) => {
      this.#world.count('answers cut');
      this.#cutOne(exchange);
    };
  }

  #travelMs(): number {
    return this.isHealed ? 2 : this.#chance.delayMs(8, 4_000, this.#profile.lateShare * 0.3);
  }

  #isLost(): boolean {
    return !this.isHealed && this.#chance.is(this.#profile.dropShare);
  }

  send(sending: Sending): void {
    this.#world.count('requests');
    const isDoubled = !this.isHealed && this.#chance.is(this.#profile.duplicateShare * 0.3);
    if (this.#isLost()) {
      this.#world.count('requests lost');
      this.#world.after(this.#chance.between(1_000, 20_000), () => sending.onLost?.());
    } else {
      this.#world.after(this.#travelMs(), () => this.#arrive(sending, true));
    }
    if (isDoubled) {
      this.#world.count('requests doubled');
      this.#world.after(this.#travelMs() + this.#chance.between(0, 50), () => this.#arrive(sending, false));
    }
  }

  #arrive(sending: Sending, isFirst: boolean): void {
    const abort = new AbortController();
    const request = new Request(sending.url, {
      method: sending.method,
      signal: abort.signal,
      ...(sending.headers === undefined ? {} : { headers: { ...sending.headers } }),
      ...this.#bodyOf(sending),
    } as RequestInit);
    const exchange = this.#server.arrive(sending.name, request, sending.address ?? '10.0.0.1');
    if (exchange === undefined) {
      if (isFirst) this.#world.after(this.#travelMs(), () => sending.onLost?.());
      return;
    }
    this.#sendings.set(exchange, { sending, isFirst });
    sending.onArrival?.(exchange);
    if (sending.mayLeave === true && !this.isHealed && this.#chance.is(this.#profile.goneShare)) {
      this.#world.after(this.#chance.delayMs(20, 5_000, 0.3), () => {
        if (!this.#sendings.has(exchange) || exchange.life.isDead) return;
        this.#world.count('clients gone');
        this.#world.note(`client of ${sending.name} goes away`);
        abort.abort();
      });
    }
  }

  #bodyOf({ body, slowMs }: Sending): object {
    if (body === undefined) return {};
    if (slowMs === undefined) return { body };
    const bytes = encoder.encode(body);
    const half = bytes.length >> 1;
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(bytes.subarray(0, half));
        this.#world.after(slowMs, () => {
          try {
            controller.enqueue(bytes.subarray(half));
            controller.close();
          } catch {
            // Nobody reads it any more.
          }
        });
      },
    });
    return { body: stream, duplex: 'half' };
  }

  #answered(exchange: Exchange, answer: Answer): void {
    const kept = this.#sendings.get(exchange);
    if (kept === undefined) {
      this.#world.fail('A1 one answer', `${exchange.name} was answered twice`);
      return;
    }
    this.#sendings.delete(exchange);
    const { sending, isFirst } = kept;
    this.#world.met('A1 one answer');
    const requestId = answer.headers.get('x-request-id') ?? '';
    if (!requestId.startsWith('req_') || this.#requestIds.has(requestId)) {
      this.#world.fail('A1 one answer', `${exchange.name} has no request id of its own: ${requestId}`);
    }
    this.#requestIds.add(requestId);
    const code = answer.status < 400 ? '' : ` ${codeOf(answer)}`;
    this.#world.note(`${exchange.name}: ${answer.status}${code}`);
    this.#world.count(`answers ${answer.status}${code}`);
    sending.judge(answer, exchange);
    if (!isFirst) return;
    if (this.#isLost()) {
      this.#world.count('answers lost');
      this.#world.after(this.#chance.between(1_000, 20_000), () => sending.onLost?.());
    } else {
      this.#world.after(this.#travelMs(), () => sending.onAnswer?.(answer));
    }
  }

  /** The process is gone, and every connection with it. */
  #cut(): void {
    for (const exchange of this.#server.life?.outstanding ?? []) this.#cutOne(exchange);
  }

  #cutOne(exchange: Exchange): void {
    const kept = this.#sendings.get(exchange);
    this.#sendings.delete(exchange);
    if (kept === undefined) return;
    kept.sending.onCut?.();
    if (kept.isFirst) this.#world.after(this.#travelMs(), () => kept.sending.onLost?.());
  }
}

const CODE = /^\{"error":\{"code":"([A-Z_]+)"/;

/** Code of the refusal, or ''. */
export const codeOf = (answer: Answer): string => CODE.exec(answer.text)?.[1] ?? '';

/** Whether 408 is right: bodies wait for room, and this one's client left, or it was late, or one too many of its address. */
export const isUnread = (answer: Answer, { request, arrivedMs }: Exchange, nowMs: number): boolean =>
  answer.status === 408 &&
  (request.signal.aborted || nowMs - arrivedMs >= BODY_DEADLINE_MS || answer.text.includes('too many bodies'));
