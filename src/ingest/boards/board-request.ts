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
  /** To be asked before what is already waiting. */
  readonly more: readonly OwnRequest[];
  readonly isCutShort?: boolean;
  /** What tells the rows apart, where several pages may list the same one. */
  readonly keys?: readonly string[];
  /** Different rows that the whole feed has, where the page says so and only counting them proves that all came. */
  readonly different?: number;
}
