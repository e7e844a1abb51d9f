/**
 * Positions in the feed of all events (siblings §4), by order key, so that after a reload a feed continues with exactly
 * the new events. The order is that of the snapshot: as a catalogue recorded the events; or, where they follow from the
 * jobs themselves, by observed time, then job id by code unit, then kind. Byte 0 says what follows:
 *
 *   0  nothing: before every event
 *   1  the event's number in its catalogue, Uint32
 *   2  observed time, Float64; kind, a byte; the job's id, UTF-8 of at most ID_BYTES_MAX
 *   3  the same time and kind for a longer id; the job's last observation, Float64; the first 16 bytes of the id's SHA-256; the
 *      first PREFIX_BYTES of the id
 *
 * A position of form 3 finds its job by the last observation and the digest. If the job was removed or observed again,
 * the events of that time whose ids have the same prefix are searched for the digest; if none has it, the feed
 * continues with the first of them, and so may repeat some but skips none. Numbers are big-endian.
 */
import { decodeUtf8 } from '../../base/codec.ts';
import { firstWhere } from '../../base/first-where.ts';
import { POSITION_BYTES_MAX } from '../limits.ts';
import type { History } from '../packed/history.ts';
import { HISTORY_KINDS, NO_ROW } from '../packed/history-event.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { compareText } from '../snapshot/text-order.ts';
import { digestOf, firstRowAfter, isTime } from './job-positions.ts';

const ID_START = 10;
const ID_BYTES_MAX = POSITION_BYTES_MAX - ID_START;
const DIGEST_START = 18;
const DIGEST_BYTES = 16;
const PREFIX_START = DIGEST_START + DIGEST_BYTES;

/** Most events that are searched for a removed job, some 4 µs each. */
const SEARCHED_EVENTS_MAX = 20_000;

type FeedPosition =
  | { readonly form: 'start' }
  | { readonly form: 'serial'; readonly serial: number }
  | { readonly form: 'id'; readonly timeMs: number; readonly kind: number; readonly id: Uint8Array }
  | {
      readonly form: 'digest';
      readonly timeMs: number;
      readonly kind: number;
      readonly lastObservedMs: number;
      /** 16 bytes in code units 0..255. */
      readonly digest: string;
      readonly prefix: Uint8Array;
    };

/** `undefined` when the bytes are no position. */
export function parseFeedPosition(bytes: Uint8Array): FeedPosition | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const form = bytes[0];
  if (form === 0 && bytes.length === 1) return { form: 'start' };
  if (form === 1 && bytes.length === 5) return { form: 'serial', serial: view.getUint32(1) };
  if ((form !== 2 && form !== 3) || bytes.length <= ID_START || bytes.length > POSITION_BYTES_MAX) return undefined;
  const timeMs = view.getFloat64(1);
  const kind = bytes[9]!;
  if (!isTime(timeMs) || kind >= HISTORY_KINDS.length) return undefined;
  if (form === 2) {
    const id = bytes.subarray(ID_START);
    return decodeUtf8(id) !== undefined ? { form: 'id', timeMs, kind, id } : undefined;
  }
  if (bytes.length !== POSITION_BYTES_MAX) return undefined;
  const lastObservedMs = view.getFloat64(ID_START);
  if (!isTime(lastObservedMs)) return undefined;
  const digest = String.fromCharCode(...bytes.subarray(DIGEST_START, PREFIX_START));
  return { form: 'digest', timeMs, kind, lastObservedMs, digest, prefix: bytes.subarray(PREFIX_START) };
}

/** The position right after an event; -1 = before every event. Does not check whether the file changed. */
export function feedPositionAt(snapshot: Snapshot, position: number): Uint8Array {
  const { history } = snapshot;
  if (position === -1) return Uint8Array.of(0);
  if (history.isRecorded) {
    const bytes = Uint8Array.of(1, 0, 0, 0, 0);
    new DataView(bytes.buffer).setUint32(1, history.serialAt(position));
    return bytes;
  }
  const row = rowAt(history, position);
  const id = Uint8Array.from(snapshot.cold.idBytesOf(row));
  const isShort = id.length <= ID_BYTES_MAX;
  const bytes = new Uint8Array(isShort ? ID_START + id.length : POSITION_BYTES_MAX);
  const view = new DataView(bytes.buffer);
  bytes[0] = isShort ? 2 : 3;
  view.setFloat64(1, history.timeAt(position));
  bytes[9] = history.kindAt(position);
  if (isShort) {
    bytes.set(id, ID_START);
    return bytes;
  }
  view.setFloat64(ID_START, snapshot.lastObserved[row]!);
  const digest = digestOf(snapshot, row);
  for (let i = 0; i < DIGEST_BYTES; i++) bytes[DIGEST_START + i] = digest.charCodeAt(i);
  bytes.set(id.subarray(0, POSITION_BYTES_MAX - PREFIX_START), PREFIX_START);
  return bytes;
}

/**
 * The first event after a position; the number of events if there is none. Does not check whether the file changed.
 * @returns `undefined` when the position belongs to a feed in the other order
 */
export function firstEventAfter(snapshot: Snapshot, position: FeedPosition): number | undefined {
  const { history } = snapshot;
  if (position.form === 'start' || history.count === 0) return 0;
  if (history.isRecorded !== (position.form === 'serial')) return undefined;
  if (position.form === 'serial') {
    return firstWhere(0, history.count, (event) => history.serialAt(event) > position.serial);
  }
  if (position.form === 'id') {
    const { id, kind } = position;
    return firstByKey(snapshot, position.timeMs, (event) => {
      const order = snapshot.cold.compareIdTo(rowAt(history, event), id);
      return order > 0 || (order === 0 && history.kindAt(event) > kind);
    });
  }
  return firstAfterDigest(snapshot, position);
}

function firstAfterDigest(snapshot: Snapshot, position: Extract<FeedPosition, { form: 'digest' }>): number {
  const { cold, history, idRank } = snapshot;
  const { digest, kind, prefix, timeMs } = position;
  const comparePrefix = (event: number): number => {
    const id = cold.idBytesOf(rowAt(history, event));
    return compareText(id, 0, Math.min(id.length, prefix.length), prefix, 0, prefix.length);
  };
  const first = firstByKey(snapshot, timeMs, (event) => comparePrefix(event) >= 0);
  const past = firstByKey(snapshot, timeMs, (event) => comparePrefix(event) > 0);
  const known = rowOfDigest(snapshot, position);
  if (known !== undefined) {
    const rank = idRank[known]!;
    return firstWhere(first, past, (event) => {
      const own = idRank[rowAt(history, event)]!;
      return own > rank || (own === rank && history.kindAt(event) > kind);
    });
  }
  const searched = Math.min(past, first + SEARCHED_EVENTS_MAX);
  for (let event = first; event < searched; event++) {
    if (!digestOf(snapshot, rowAt(history, event)).startsWith(digest)) continue;
    return history.kindAt(event) > kind ? event : event + 1;
  }
  return first;
}

/** The row of a job, unless it was observed again. */
function rowOfDigest(
  snapshot: Snapshot,
  { digest, lastObservedMs }: Extract<FeedPosition, { form: 'digest' }>,
): number | undefined {
  const { activeCount, lastObserved, rowCount } = snapshot;
  for (const [start, end] of [
    [0, activeCount],
    [activeCount, rowCount],
  ] as const) {
    // A whole digest comes after its beginning.
    const row = firstRowAfter(snapshot, start, end, { lastObservedMs, digest });
    if (row < end && lastObserved[row] === lastObservedMs && digestOf(snapshot, row).startsWith(digest)) return row;
  }
  return undefined;
}

/** The first derived event that is later than a time, or at that time with `isPast` true. */
const firstByKey = ({ history }: Snapshot, timeMs: number, isPast: (event: number) => boolean): number =>
  firstWhere(0, history.count, (event) => {
    const time = history.timeAt(event);
    return time > timeMs || (time === timeMs && isPast(event));
  });

/** The row of a derived event's job, which the snapshot holds. */
function rowAt(history: History, event: number): number {
  const row = history.rowAt(event);
  if (row === NO_ROW) throw history.changed();
  return row;
}
