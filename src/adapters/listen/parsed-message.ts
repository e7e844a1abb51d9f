/**
 * The requests of node:http, with two bounds that it lacks.
 *
 * A way to stop the parser: one read may hold 1,700 small requests, and node:http makes the objects of all of them even after
 * the socket was destroyed: 40 ms a read, with nothing to stop its sender. The parser stops only at a message that upgrades its
 * connection, so every message of a destroyed socket says that it does; node:http then finds no listener for upgrades and
 * closes the socket, which is closed already.
 *
 * Memory for chunks that wait for a reader: see SmallChunks.
 */
import { nodeHttp } from '../process/late-modules.ts';
import { SMALL_CHUNK_BYTES, SmallChunks } from './small-chunks.ts';

export class ParsedMessage extends nodeHttp().IncomingMessage {
  /** What the parser has set, already while the constructor of the base class runs. */
  declare private isUpgrade: boolean | null;
  /** Chunks of this turn's read of the socket that are not in the stream yet; undefined while there were none. */
  declare private smallChunks: SmallChunks | undefined;

  get upgrade(): boolean | null {
    return this.isUpgrade === true || this.socket.destroyed ? true : this.isUpgrade;
  }

  set upgrade(isUpgrade: boolean | null) {
    this.isUpgrade = isUpgrade;
  }

  /**
   * Called by the parser with each chunk, and with null at the end. The first one goes straight into the stream, as all do that a
   * reader takes at once.
   */
  override push(chunk: Buffer | null): boolean {
    const isSmall = chunk !== null && chunk.length < SMALL_CHUNK_BYTES;
    if (isSmall && this.readableLength > 0) return this.#join(chunk);
    this.#pushJoined();
    return super.push(chunk);
  }

  /** @returns whether the parser's socket is to be read on */
  #join(chunk: Buffer): boolean {
    this.smallChunks ??= new SmallChunks();
    const { smallChunks } = this;
    if (!smallChunks.hasRoomFor(chunk)) this.#pushJoined();
    // Not by a tick: ticks run between the chunks of one read.
    if (smallChunks.length === 0) setImmediate(() => this.#pushJoined());
    smallChunks.add(chunk);
    return this.readableLength + smallChunks.length < this.readableHighWaterMark;
  }

  #pushJoined(): void {
    const joined = this.smallChunks?.take();
    if (joined !== undefined) super.push(joined);
  }
}
