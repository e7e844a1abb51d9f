/** A TCP proxy between processes and their database, which cuts connections: at once, or at a random point of the traffic. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import type { Chance } from './chance.ts';

export class TcpLink {
  #url: URL;
  readonly #server: Server;
  readonly #pairs = new Set<readonly [Socket, Socket]>();
  #isOpen = true;
  #chance: Chance | undefined;
  #share = 0;
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
        } else to.write(bytes);
      });
      from.on('error', () => {});
      from.on('close', () => this.#cut(pair));
    }
  }

  #cut(pair: readonly [Socket, Socket]): void {
    if (!this.#pairs.delete(pair)) return;
    for (const socket of pair) socket.resetAndDestroy();
  }
}
