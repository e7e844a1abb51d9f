/** What the watcher remembers about a board between two fetches. */
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
  /** End of the last fetch, whatever its result. */
  readonly lastFetchMs: number;
  /** Time of the last fetch with a whole, believable or unchanged feed; null: there was none. */
  readonly lastOkMs: number | null;
  /** Status of the last answer; null: there was none. */
  readonly httpStatus: number | null;
  /** Why the last fetch is not `ok`, one line for the operator; null when it is. */
  readonly reason: string | null;
  /** Until when its host asked for no requests; absent: it has not asked since the last fetch with a feed. */
  readonly heldUntilMs?: number;
  /** Fetches in a row that were not `ok`. */
  readonly failures: number;
  /** Jobs of the last feed that was taken; null: none was. */
  readonly rows: number | null;
  /** Jobs of the last fetch, even if it was refused; null: it had no answer. */
  readonly lastRows: number | null;
  readonly validators: Validators | null;
  /** SHA-256 of the last feed's pages, base64url; absent or null if the feed was not whole or not taken completely. */
  readonly pagesDigest?: string | null;
  /** The last `ok` fetches, oldest first, from which the time of the next is computed. */
  readonly visits?: readonly Visit[];
  /**
   * Skill version used for the feed with these validators: after a change of version a whole answer is worth fetching.
   */
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
