/** What the watcher keeps about a board between two fetches. */
import type { BoardHealth } from '../../catalogue/watched-boards.ts';
import type { Visit } from '../watch/schedule.ts';

/** Validators of the last whole answer, as headers had them (RFC 9110 §8.8). */
export interface Validators {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

/** Times are milliseconds since the epoch, UTC. */
export interface FetchState {
  readonly health: Exclude<BoardHealth, 'new'>;
  /** End of the last fetch, whatever it gave. */
  readonly lastFetchMs: number;
  /** Time of the last fetch that gave a whole, believable feed or said that it is unchanged; null: there was none. */
  readonly lastOkMs: number | null;
  /** Status of the last answer; null: there was none. */
  readonly httpStatus: number | null;
  /** Why the last fetch is not `ok`, one line for the operator; null when it is. */
  readonly reason: string | null;
  /** Until when its host asked to be left alone; absent: it asked for nothing since the last fetch that gave a feed. */
  readonly heldUntilMs?: number;
  /** Fetches in a row that were not `ok`. */
  readonly failures: number;
  /** Jobs of the last feed that was taken; null: none was. */
  readonly rows: number | null;
  /** Jobs of the last fetch, also where it was refused; null: it had no answer. */
  readonly lastRows: number | null;
  readonly validators: Validators | null;
  /** SHA-256 of the pages of the last feed, base64url; absent or null where it was not whole, or not all of it was taken. */
  readonly pagesDigest?: string | null;
  /** The last fetches that were `ok`, oldest first, from which the time of the next is worked out. */
  readonly visits?: readonly Visit[];
  /** Of the skills of the feed with the validators: those of another version are worth a whole answer. */
  readonly skillsVersion?: string;
}

/** What the fetches of a day found. */
export interface DayCounts {
  readonly fetches: number;
  readonly opened: number;
  readonly changed: number;
  readonly closed: number;
  readonly reopened: number;
}
