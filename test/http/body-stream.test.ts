/** Bodies that are made while they are sent: when they are asked for a piece, and how they end. */
import { describe, expect, it } from 'vitest';
import { BodyPieces } from '../../src/http/answers.ts';
import { type BodyReceiver, BodyStreams } from '../../src/http/body-stream.ts';
import { settle } from '../support/manual-time.ts';

type Piece = Uint8Array | null | 'cut';

class Given extends BodyPieces {
  readonly #give: (count: number) => Piece | Promise<Piece>;
  count = 0;

  constructor(give: (count: number) => Piece | Promise<Piece>, share = '') {
    super(share);
    this.#give = give;
  }

  next(): Piece | Promise<Piece> {
    return this.#give(++this.count);
  }
}

const PIECE = new Uint8Array(8).fill(1);

function setUp() {
  const turns: (() => void)[] = [];
  const reported: unknown[] = [];
  const streams = new BodyStreams({
    report: (failure, requestId) => reported.push([(failure as Error).message, requestId]),
    soon: (run) => turns.push(run),
  });
  const cuts: string[] = [];
  const receiver = (requestId: string, canCut = true): BodyReceiver => ({
    requestId,
    cut() {
      if (canCut) cuts.push(requestId);
      return canCut;
    },
  });
  /** Runs one turn of the loop, once everything that waits for promises alone has run. */
  const turn = async (): Promise<void> => {
    await settle();
    for (const run of turns.splice(0)) run();
    await settle();
  };
  return { streams, turns, turn, reported, cuts, receiver };
}

describe('a body in pieces', () => {
  it('is asked for one when its reader is, in the turn after', async () => {
    const { streams, turn, receiver } = setUp();
    const pieces = new Given((count) => (count <= 2 ? PIECE : null));
    let endCount = 0;
    const reader = streams.open(pieces, receiver('a'), () => endCount++).getReader();
    await turn();
    expect([pieces.count, endCount]).toEqual([0, 0]);
    for (const [count, expected] of [
      [1, { done: false, value: PIECE }],
      [2, { done: false, value: PIECE }],
      [3, { done: true, value: undefined }],
    ] as const) {
      const reading = reader.read();
      await settle();
      expect(pieces.count).toBe(count - 1);
      await turn();
      expect(await reading).toEqual(expected);
      await turn();
      expect([pieces.count, endCount]).toEqual([count, expected.done ? 1 : 0]);
    }
  });

  it('shares the turns with all others: one piece of one body in each, in their order', async () => {
    const { streams, turn, receiver } = setUp();
    const asked: number[] = [];
    const readers = Array.from({ length: 600 }, (_, i) => {
      const pieces = new Given(() => {
        asked.push(i);
        return PIECE;
      });
      return streams.open(pieces, receiver(String(i)), () => {}).getReader();
    });
    const readings = readers.map((reader) => reader.read());
    await settle();
    for (let i = 0; i < readers.length; i++) {
      await turn();
      expect(asked.length).toBe(i + 1);
    }
    await Promise.all(readings);
    expect(asked).toEqual(readers.map((_, i) => i));
    void readers[5]!.read();
    void readers[3]!.read();
    await turn();
    await turn();
    expect(asked.slice(600)).toEqual([5, 3]);
  });

  it('is not asked again once its reader has left', async () => {
    const { streams, turn, receiver, reported } = setUp();
    let end: (failure: Error) => void = () => {};
    const pieces = new Given((count) => (count === 1 ? PIECE : new Promise((_, reject) => (end = reject))));
    const reader = streams.open(pieces, receiver('a'), () => {}).getReader();
    const [first] = [reader.read(), reader.read()];
    await turn();
    await first;
    await turn();
    await reader.cancel();
    end(new Error('late'));
    await turn();
    expect(pieces.count).toBe(2);
    expect(reported).toEqual([]);
    const other = new Given(() => PIECE);
    let endCount = 0;
    const early = streams.open(other, receiver('b'), () => endCount++).getReader();
    const reading = early.read();
    await early.cancel();
    await turn();
    expect(await reading).toEqual({ done: true, value: undefined });
    expect([other.count, endCount]).toEqual([0, 1]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('the store');
      },
      1,
    ],
    ['rejects', () => Promise.reject(new Error('the store')), 1],
    ['says that the rest never comes', (): Piece => 'cut', 0],
  ] as const)('cuts the connection when its source %s; a failure is reported once', async (_, fail, reportCount) => {
    for (const canCut of [true, false]) {
      const { streams, turn, receiver, reported, cuts } = setUp();
      const pieces = new Given((count) => (count === 1 ? PIECE : fail()));
      let endCount = 0;
      const reader = streams.open(pieces, receiver('req_7', canCut), () => endCount++).getReader();
      const readings = [reader.read(), reader.read()];
      const ends = Promise.allSettled(readings);
      await turn();
      await turn();
      expect(reported).toEqual(Array(reportCount).fill(['the store', 'req_7']));
      expect(cuts).toEqual(canCut ? ['req_7'] : []);
      // The listener that has closed the connection cancels the stream; where it cannot, the stream has an error.
      if (canCut) await reader.cancel();
      expect((await ends)[1]).toMatchObject(
        canCut ? { status: 'fulfilled', value: { done: true } } : { status: 'rejected' },
      );
      expect([pieces.count, endCount]).toEqual([2, 1]);
    }
  });
});
