/** Requests for the pages of a board's feed, and what a page adds to it. */

export interface BoardRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  /** JSON; null for a GET. */
  readonly body: string | null;
  readonly accept: 'application/json' | 'text/html';
}

/** A request before BOARD_ENDPOINTS: its address is the shape's own. */
export interface OwnRequest extends Omit<BoardRequest, 'accept'> {
  /** Rows of the search that it continues, as the search's first page stated them. */
  readonly total?: number;
}

/** What a page adds to a feed. */
export interface PageFound {
  readonly rows: number;
  /** Requests to send before those already queued. */
  readonly more: readonly OwnRequest[];
  readonly isCutShort?: boolean;
  /** Keys that identify the rows, where several pages may list the same row. */
  readonly keys?: readonly string[];
  /** Number of distinct rows in the whole feed, if the page states it and only counting proves that all came. */
  readonly different?: number;
}
