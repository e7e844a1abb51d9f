/**
 * A log whose end never reached the disk (reliability 122): a start finds the steps that are there whole, takes nothing for damage
 * and goes on. Every frame boundary, and every kind of place inside the last frames.
 */
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { CallbackId } from '../../../src/callback/identifier.ts';
import { contentOfFolder, contentOfState, History, NOW_MS } from './recorded-history.ts';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

const NEW_ID = `cb_${'n'.repeat(24)}` as CallbackId;

const history = await History.live();
afterAll(() => history.folder.remove());
const frameBytes = FRAME_HEADER_BYTES + history.log.readUInt32BE(8);
const frameCount = (history.log.length - HEADER_BYTES) / frameBytes;
const boundary = (frame: number): number => HEADER_BYTES + frame * frameBytes;

async function contentAfter(logBytes: number, tail: Uint8Array = new Uint8Array(0)): Promise<unknown> {
  const folder = history.withLog(Buffer.concat([history.log.subarray(0, logBytes), tail]));
  try {
    return await contentOfFolder(folder);
  } finally {
    await folder.remove();
  }
}

/** Sweeps take seconds, more on a machine that is busy with other work. */
vi.setConfig({ testTimeout: 120_000 });

describe('a log that was cut', () => {
  it('has a history worth cutting', () => {
    expect(Number.isInteger(frameCount)).toBe(true);
    expect(history.moments.length).toBeGreaterThan(12);
    const lengths = history.moments.map(({ logBytes }) => logBytes);
    expect(lengths).toEqual([...new Set(lengths)].sort((a, b) => a - b));
    expect(history.momentAt(history.log.length)).toBe(history.moments.at(-1));
  });

  it('at any frame boundary gives the steps before it, exactly', async () => {
    for (let frame = 0; frame <= frameCount; frame++) {
      const expected = history.momentAt(boundary(frame));
      expect(await contentAfter(boundary(frame)), `${frame} of ${frameCount} frames: ${expected.step}`).toEqual(
        expected.content,
      );
    }
  });

  it('inside a frame or the header gives the steps before it, exactly', async () => {
    const inside = [1, 8, 23, FRAME_HEADER_BYTES, 2048 + 3, frameBytes - 1];
    const cuts = [0, 1, 16, HEADER_BYTES - 1];
    for (let frame = frameCount - 4; frame < frameCount; frame++)
      cuts.push(...inside.map((at) => boundary(frame) + at));
    for (const cut of cuts) {
      expect(await contentAfter(cut), `${cut} bytes`).toEqual(history.momentAt(cut).content);
    }
  });

  it('does not stop the server, which continues with the rest', async () => {
    for (const cut of [boundary(0), boundary(frameCount >> 1) - 5, boundary(frameCount) - 1]) {
      const folder = history.withLog(history.log.subarray(0, cut));
      try {
        const state = await folder.open({}, history.time);
        expect(state.fault()).toBeUndefined();
        const content = await contentOfState(state);
        expect(content, `${cut} bytes`).toEqual(history.momentAt(cut).content);
        await state.persistence.events.create({
          id: NEW_ID,
          tokenDigest: new Uint8Array(32),
          expiresAtMs: NOW_MS + 1000,
        });
        await folder.close();
        const again = await contentOfState(await folder.open({}, history.time));
        expect(Object.keys(again.callbacks).length).toBe(Object.keys(content.callbacks).length + 1);
        expect(again).toMatchObject(content);
      } finally {
        await folder.remove();
      }
    }
  });

  it('and filled as a file system may fill it gives the same', async () => {
    const cut = boundary(frameCount - 1) + 100;
    const { content } = history.momentAt(cut);
    const rest = history.log.length - cut;
    for (const filler of [0x00, 0xff, 0x5a]) {
      expect(await contentAfter(cut, new Uint8Array(rest).fill(filler)), `filler ${filler}`).toEqual(content);
    }
  });
});
