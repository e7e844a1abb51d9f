/**
 * Files that are not what was written (reliability 123, 124): a start sells nothing rather than forget what was sold. One bit is
 * turned at places all over the log and the database file, and each start must notice or find everything.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { isoTime } from '../../../src/base/iso-time.ts';
import { WINDOW_SECONDS_MAX } from '../../../src/payment/protocol/network.ts';
import { isUnreadable } from '../../../src/storage/sqlite/database.ts';
import { isDamagedLog, isDamagedLogFile } from '../../../src/storage/sqlite/log-check.ts';
import { readMarker } from '../../../src/storage/sqlite/marker.ts';
import { StateError } from '../../../src/storage/state-error.ts';
import { orderFor } from '../../payment/fixture.ts';
import { memoryReservations } from '../../support/memory-reservations.ts';
import { IS_WHOLE, partOf } from '../../support/whole.ts';
import { Folder } from './folder.ts';
import { type Content, contentOfFolder, contentOfState, History } from './recorded-history.ts';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const LOG_STEP_BYTES = 2_401;
/** Odd and no divisor of a page, so that it comes by every kind of place. */
const FILE_STEP_BYTES = 293;

const turned = (bytes: Uint8Array, at: number, bit = at % 8): Buffer => {
  const copy = Buffer.from(bytes);
  copy[at] = copy[at]! ^ (1 << bit);
  return copy;
};

const history = await History.live();
const [last, beforeLast] = [history.moments.at(-1)!, history.moments.at(-2)!];

/** The same state after a stop: all of it in the database file. */
const stopped = history.folder.killed();
await stopped.open({}, history.time);
await stopped.close();
const file = readFileSync(stopped.file('state.db'));
const marker = readFileSync(stopped.file('state.json'));

afterAll(async () => {
  await history.folder.remove();
  await stopped.remove();
});

/** What is found, or the damage. */
async function verdictOn(folder: Folder): Promise<Content | 'damaged'> {
  try {
    return await contentOfFolder(folder);
  } catch (failure) {
    if (isUnreadable(failure)) return 'damaged';
    throw failure;
  }
}

/** Sweeps take seconds, more on a machine that is busy with other work. */
vi.setConfig({ testTimeout: 120_000 });

describe('a log with one bit turned', () => {
  it('is damaged wherever a later step follows the bit', () => {
    for (let at = HEADER_BYTES; at < beforeLast.logBytes; at += LOG_STEP_BYTES) {
      expect(isDamagedLog(turned(history.log, at)), `bit of byte ${at}`).toBe(true);
    }
    // The header of the log and that of its first frame: the checksums leave out a frame's salts.
    for (let at = 0; at < HEADER_BYTES + FRAME_HEADER_BYTES; at++) {
      for (let bit = 0; bit < 8; bit++)
        expect(isDamagedLog(turned(history.log, at, bit)), `header, ${at}, ${bit}`).toBe(true);
    }
  });

  it('in its last step looks like one that was cut there, and loses that step alone', async () => {
    for (let at = beforeLast.logBytes; at < last.logBytes; at += LOG_STEP_BYTES) {
      const folder = history.withLog(turned(history.log, at));
      expect(await verdictOn(folder), `bit of byte ${at}`).toEqual(beforeLast.content);
      await folder.remove();
    }
  });
});

describe('a log that was not synced step by step', () => {
  it('is taken up to its first bad frame: power may have gone before what lies between was written', async () => {
    const moment = history.moments.at(-4)!;
    const folder = history.withLog(turned(history.log, moment.logBytes + 100));
    const written = JSON.parse(readFileSync(folder.file('state.json'), 'utf8'));
    writeFileSync(folder.file('state.json'), JSON.stringify({ ...written, sync: 'normal' }));
    expect(await contentOfState(await folder.open({ sync: 'normal' }, history.time))).toEqual(moment.content);
    await folder.remove();
  });
});

describe('a log that begins a new round', () => {
  /** SQLite writes over the old round: the header, a sync, then frame after frame. */
  it('is sound after each of these writes', async () => {
    const folder = new Folder();
    const database = new DatabaseSync(folder.file('any.db'));
    database.exec('PRAGMA journal_mode = WAL; CREATE TABLE one (filler BLOB)');
    for (let i = 0; i < 8; i++) database.exec('INSERT INTO one VALUES (zeroblob(3000))');
    const oldRound = readFileSync(folder.file('any.db-wal'));
    database.exec('PRAGMA wal_checkpoint(PASSIVE); INSERT INTO one VALUES (zeroblob(9000))');
    const newRound = readFileSync(folder.file('any.db-wal'));
    database.close();
    const changedTo = newRound.findLastIndex((byte, at) => byte !== oldRound[at]) + 1;
    expect(oldRound.subarray(0, HEADER_BYTES).equals(newRound.subarray(0, HEADER_BYTES))).toBe(false);
    expect(changedTo).toBeLessThan(oldRound.length);
    for (let written = HEADER_BYTES; written < changedTo; written += 256) {
      const log = Buffer.concat([newRound.subarray(0, written), oldRound.subarray(written)]);
      expect(isDamagedLog(log), `${written} bytes of the new round`).toBe(false);
    }
    await folder.remove();
  });
});

describe('a database file with one bit turned', () => {
  it('is damaged, or returns everything except sums of play money', async () => {
    expect(await verdictOn(stopped)).toEqual(last.content);
    let damagedCount = 0;
    for (let at = 0; at < file.length; at += FILE_STEP_BYTES * (IS_WHOLE ? 1 : 8)) {
      writeFileSync(stopped.file('state.db'), turned(file, at));
      const verdict = await verdictOn(stopped);
      if (verdict === 'damaged') damagedCount++;
      else expect({ ...verdict, spent: {} }, `bit of byte ${at}`).toEqual({ ...last.content, spent: {} });
    }
    writeFileSync(stopped.file('state.db'), file);
    expect(damagedCount).toBeGreaterThan(partOf(20));
  });

  it.each([
    'organization SET charged = charged + 1',
    'onboarding SET remaining = remaining + 1',
    'api_key SET revoked_ms = 1',
    'pending SET value = value + 1',
    'callback SET expires_at_ms = expires_at_ms + 1',
    "event SET head = head || ' '",
    'event SET bytes = zeroblob(length(bytes)) WHERE is_inline',
    'event SET bytes = zeroblob(length(bytes)) WHERE NOT is_inline',
    'event SET part_checksums = zeroblob(length(part_checksums))',
  ])('is damaged after UPDATE %s', async (update) => {
    const folder = stopped.killed();
    const database = new DatabaseSync(folder.file('state.db'));
    database.exec(`UPDATE ${update}`);
    database.close();
    expect(await verdictOn(folder)).toBe('damaged');
    await folder.remove();
  });

  it.each(['state.db', 'state.db-wal'])(
    'makes the server refuse payments, name the file and leave it unchanged: %s',
    async (name) => {
      const folder = name === 'state.db' ? stopped.killed() : history.folder.killed();
      const path = folder.file(name);
      const damaged = turned(readFileSync(path), name === 'state.db' ? 100 : HEADER_BYTES + 100);
      writeFileSync(path, damaged);
      const state = await folder.open({}, history.time);
      expect(state.fault()).toMatch(/^[^\n]*state\.db is damaged \([^\n]+\): the server accepts no payments; [^\n]+$/);
      expect(state.notices).toEqual([state.fault()]);
      expect(folder.faults).toEqual([state.fault()]);
      await expect(state.persistence.events.delete('cb_any' as never)).rejects.toThrow(/state\.db is damaged/);
      await folder.close();
      expect(readFileSync(path).equals(damaged)).toBe(true);

      const reset = await folder.open({ mayReset: true }, history.time);
      expect(reset.notices[0]).toMatch(
        /^started with an empty state \([^\n]+\); the old state is now [^\n]*state\.db\.lost-/,
      );
      expect((await contentOfState(reset)).payments).toEqual({});
      // What was signed before may have been used: its window is the longest that is taken, and some.
      const nowSeconds = history.time.nowMs() / 1000;
      expect(reset.persistence.reservations.usedBeforeSeconds).toBeGreaterThanOrEqual(nowSeconds + 150);
      const reservations = memoryReservations(history.time, {
        journal: reset.persistence.journal,
        loaded: reset.persistence.reservations,
      });
      const reserved = (validBeforeSeconds: number): string =>
        reservations.reserve(orderFor({ validBeforeSeconds }).key, validBeforeSeconds, []).kind;
      expect([120, 150, 151].map((seconds) => reserved(nowSeconds + seconds))).toEqual([
        'unavailable',
        'unavailable',
        'reserved',
      ]);
      await folder.remove();
    },
  );
});

it.each([
  ['log', 'any.db-wal', 'EISDIR', (folder: Folder) => isDamagedLogFile(folder.file('any.db-wal'))],
  ['marker', 'state.json', 'is a folder', (folder: Folder) => readMarker(folder.path)],
] as const)('a %s that cannot be read is not taken for none', async (_, name, words, read) => {
  const folder = new Folder();
  mkdirSync(folder.file(name));
  expect(() => read(folder)).toThrow(words);
  await folder.remove();
});

it.each([
  ['{"generation":7,"sync":"full"}', { generation: 7, sync: 'full' }],
  ['{"generation":7,"sync":"normal","moved":"moved"}', { generation: 7, sync: 'normal', moved: 'moved' }],
  ['{"generation":"7","sync":"full"}', undefined],
  ['{"generation":7.5,"sync":"full"}', undefined],
  ['{"sync":"full"}', undefined],
  ['{"generation":7,"sync":"FULL"}', undefined],
  ['{"generation":7}', undefined],
  ['{"generation":7,"sync":"full","moved":true}', undefined],
  ['null', undefined],
])('the marker %s is read as %o', async (text, read) => {
  const folder = new Folder();
  writeFileSync(folder.file('state.json'), text);
  expect(readMarker(folder.path)).toEqual(read);
  await folder.remove();
});

describe('a state file that the marker expects', () => {
  const refused = (folder: Folder, reason: RegExp): Promise<void> =>
    expect(folder.open({}, history.time)).rejects.toThrow(reason);

  it.each([
    [
      'is missing',
      (folder: Folder) => rmSync(folder.file('state.db')),
      /state\.db is missing: clients could use their payments again/,
    ],
    ['is empty', (folder: Folder) => writeFileSync(folder.file('state.db'), ''), /state\.db is missing/],
    [
      'is described by half a note',
      (folder: Folder) => writeFileSync(folder.file('state.json'), '{"gen'),
      /state\.json is damaged/,
    ],
  ] as const)('and %s stops the start, until it is given up', async (_, lose, reason) => {
    const folder = stopped.killed();
    lose(folder);
    await refused(folder, reason);
    await refused(folder, reason);
    const reset = await folder.open({ mayReset: true }, history.time);
    expect(reset.fault()).toBeUndefined();
    expect(reset.persistence.reservations.usedBeforeSeconds).toBeGreaterThan(history.time.nowMs() / 1000);
    await folder.close();
    // The cool-down is kept, and the next start needs no word of the operator.
    const after = await folder.open({}, history.time);
    expect(after.persistence.reservations.usedBeforeSeconds).toBe(reset.persistence.reservations.usedBeforeSeconds);
    await folder.remove();
  });

  it('and is an older copy stops the start; a copy with its own marker does not', async () => {
    const folder = stopped.killed();
    await folder.open({}, history.time);
    await folder.close();
    writeFileSync(folder.file('state.db'), file);
    await refused(folder, /state\.db is an older copy/);
    writeFileSync(folder.file('state.json'), marker);
    expect(await contentOfState(await folder.open({}, history.time))).toEqual(last.content);
    await folder.remove();
  });

  it('and came without its marker is a copy: all of it is there, and what may have been used sells nothing', async () => {
    const folder = stopped.killed();
    rmSync(folder.file('state.json'));
    const copy = await folder.open({}, history.time);
    const { usedBeforeSeconds } = copy.persistence.reservations;
    expect(usedBeforeSeconds).toBe(Math.ceil(history.time.nowMs() / 1000) + WINDOW_SECONDS_MAX);
    expect(copy.notices[0]).toContain(
      `state.db was restored or copied (no state.json came with it): until ${isoTime(usedBeforeSeconds * 1000)} the server`,
    );
    expect(await contentOfState(copy)).toEqual(last.content);
    await folder.close();
    // The next start is an ordinary one, and keeps to the same time.
    const after = await folder.open({}, history.time);
    expect(after.notices.join()).not.toContain('restored or copied');
    expect(after.persistence.reservations.usedBeforeSeconds).toBe(usedBeforeSeconds);
    await folder.remove();
  });

  it('is refused with an error that the program shows as one line', async () => {
    const folder = stopped.killed();
    rmSync(folder.file('state.db'));
    const failure: unknown = await folder.open({}, history.time).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StateError);
    expect((failure as Error).message).not.toContain('\n');
    await folder.remove();
  });
});
