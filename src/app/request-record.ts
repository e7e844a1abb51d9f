/** One line of the request log. Never a token, a signature or a payment header, and no query. */
export interface RequestRecord {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  /** null for the base surface. */
  readonly surface: string | null;
  readonly operation: string | null;
  readonly status: number;
  readonly durationMs: number;
  readonly client: string;
  /** Code of the refusal; null for a success. */
  readonly code: string | null;
  /** Detail that only the log shows; null for none. */
  readonly detail: string | null;
}
