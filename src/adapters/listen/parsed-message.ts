/**
 * The requests of node:http, with two bounds that it lacks.
 *
 * Stopping the parser: one read may hold 1,700 small requests, and node:http makes objects for all of them even after
 * the socket was destroyed, which costs 40 ms a read. The parser stops only at a message that upgrades the connection,
 * so every message of a destroyed socket claims to; node:http then finds no upgrade listener and closes the socket,
 * which is closed already.
 *
 * Memory for chunks that wait for a reader: see SmallChunks.
 */
import { nodeHttp } from '../process/late-modules.ts';
import { SMALL_CHUNK_BYTES, SmallChunks } from './small-chunks.ts';

export class ParsedMessage extends nodeHttp().IncomingMessage {
  /** Set by the parser, possibly while the base class's constructor runs. */
  declare private isUpgrade: boolean | null;
  /** Chunks of this turn's socket read that are not in the stream yet; undefined before the first. */
  declare private smallChunks: SmallChunks | undefined;

  get upgrade(): boolean | null {
    return this.isUpgrade === true || this.socket.destroyed ? true : this.isUpgrade;
  }

  set upgrade(isUpgrade: boolean | null) {
    this.isUpgrade = isUpgrade;
  }

  /**
   * Called by the parser with each chunk, and with null at the end. The first chunk goes straight into the stream, and
   * so does every chunk that a reader takes at once.
   */
  override push(chunk: Buffer | null): boolean {
    const isSmall = chunk !== null && chunk.length < SMALL_CHUNK_BYTES;
    if (isSmall && this.readableLength > 0) return this.#join(chunk);
    this.#pushJoined();
    return super.push(chunk);
  }

  /** @returns whether to go on reading the socket */
  #join(chunk: Buffer): boolean {
    this.smallChunks ??= new SmallChunks();
    const { smallChunks } = this;
    if (!smallChunks.hasRoomFor(chunk)) this.#pushJoined();
    // Not `process.nextTick`: ticks run between the chunks of one read.
    if (smallChunks.length === 0) setImmediate(() => this.#pushJoined());
    smallChunks.add(chunk);
    return this.readableLength + smallChunks.length < this.readableHighWaterMark;
  }

  #pushJoined(): void {
    const joined = this.smallChunks?.take();
    if (joined !== undefined) super.push(joined);
  }
}
