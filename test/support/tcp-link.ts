/**
 * A TCP proxy between processes and their database, which cuts connections: at once, at a random point of the traffic, or at a
 * statement.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Chance } from './chance.ts';

/** What becomes of a statement whose connection is cut: the database has carried it out, or gets it never, or late. */
export type Fate = 'carried out' | 'lost' | 'late';

type Pair = readonly [Socket, Socket];

export class TcpLink {
  #url: URL;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #isOpen = true;
  #chance: Chance | undefined;
  #share = 0;
  #awaited: { readonly name: string; readonly fate: Fate } | undefined;
  /** The connection on which the next answer is lost. */
  #unanswered: Pair | undefined;
  #late: { readonly far: Socket; readonly bytes: Buffer } | undefined;
  /** Connections that were cut in the middle of traffic. */
  cutCount = 0;

  /** @param url of the database */
  static async to(url: string): Promise<TcpLink> {
    const link = new TcpLink(new URL(url));
    await new Promise<void>((resolve) => link.#server.listen(0, '127.0.0.1', resolve));
    return link;
  }

  private constructor(url: URL) {
    this.#url = url;
    this.#server = createServer((near) => this.#accept(near));
  }

  /** The address of the database behind this link. */
  get url(): string {
    const linked = new URL(this.#url);
    linked.hostname = '127.0.0.1';
    linked.port = String((this.#server.address() as AddressInfo).port);
    return linked.href;
  }

  /** From now on this share of chunks, in either direction, is lost together with its connection. */
  cutAtRandom(chance: Chance, share: number): void {
    this.#chance = chance;
    this.#share = share;
  }

  /** The next statement of this name gets no answer: from then on the link is closed. */
  closeAt(name: string, fate: Fate): void {
    this.#awaited = { name, fate };
  }

  /** Now the database carries the `late` statement out. */
  async deliverLate(): Promise<void> {
    const { far, bytes } = this.#late ?? {};
    if (far === undefined) throw new Error('no statement was kept back');
    const answered = once(far, 'data');
    far.write(bytes as Buffer);
    await answered;
    far.destroy();
  }

  /** Cuts every connection, and refuses others until {@link open}. */
  close(): void {
    this.#isOpen = false;
    for (const pair of this.#pairs) this.#cut(pair);
  }

  open(): void {
    this.#isOpen = true;
  }

  /** From now on new connections go to another database. */
  leadTo(url: string): void {
    this.#url = new URL(url);
  }

  async end(): Promise<void> {
    this.close();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #accept(near: Socket): void {
    if (!this.#isOpen) {
      near.resetAndDestroy();
      return;
    }
    const pair = [near, connect(Number(this.#url.port), this.#url.hostname)] as const;
    this.#pairs.add(pair);
    for (const [from, to] of [pair, [pair[1], pair[0]]] as const) {
      from.on('data', (bytes: Buffer) => {
        if (this.#share > 0 && this.#chance?.is(this.#share) === true) {
          this.cutCount++;
          this.#cut(pair);
        } else if (this.#unanswered === pair && to === near) this.close();
        else if (this.#awaited !== undefined && to !== near && bytes.includes(this.#awaited.name)) {
          this.#closeWith(pair, bytes, this.#awaited.fate);
        } else to.write(bytes);
      });
      from.on('error', () => {});
      from.on('close', () => this.#cut(pair));
    }
  }

  #closeWith(pair: Pair, bytes: Buffer, fate: Fate): void {
    const [near, far] = pair;
    this.#awaited = undefined;
    if (fate === 'carried out') {
      this.#unanswered = pair;
      far.write(bytes);
      return;
    }
    if (fate === 'late') {
      this.#pairs.delete(pair);
      this.#late = { far, bytes };
      near.resetAndDestroy();
    }
    this.close();
  }

  #cut(pair: Pair): void {
    if (!this.#pairs.delete(pair)) return;
    for (const socket of pair) socket.resetAndDestroy();
  }
}
