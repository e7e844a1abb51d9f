/** Question and outcome of a resolve, as plain JSON in the contract's own names (siblings §7). */
import { TOO_LARGE_ANSWER } from '../outbound/limits.ts';

export const INCLUDES = ['metadata', 'text', 'links'] as const;
export type Include = (typeof INCLUDES)[number];

/** The address to resolve, and what the result includes. */
export interface ResolveQuestion {
  /** As the customer wrote it. */
  readonly url: string;
  /** Without repetitions. */
  readonly include: readonly Include[];
}

/** Times and addresses as text; each is null where the page does not say. */
export interface PageMetadata {
  readonly title: string | null;
  readonly description: string | null;
  readonly canonical_url: string | null;
  readonly site_name: string | null;
  readonly language: string | null;
  readonly image_url: string | null;
  readonly published_at: string | null;
}

export interface PageLink {
  /** Absolute, http or https. */
  readonly url: string;
  readonly text: string;
}

/** The content of a document. Members that were not asked for, or that its type does not have, are null. */
export interface PageContent {
  readonly metadata: PageMetadata | null;
  readonly text: string | null;
  readonly links: readonly PageLink[] | null;
  /** One sentence each. */
  readonly warnings: readonly string[];
}

/** Content in place of an extraction that was not made. */
export const nothingOf = (warnings: readonly string[]): PageContent => ({
  metadata: null,
  text: null,
  links: null,
  warnings,
});

export interface Redirect {
  /** The address that answered with it. */
  readonly url: string;
  readonly status_code: number;
}

export interface ResolveResult extends PageContent {
  readonly requested_url: string;
  readonly final_url: string;
  readonly redirects: readonly Redirect[];
  readonly status_code: number;
  readonly content_type: string | null;
  /** Size of the unpacked body as read. The digest, 64 hex digits, is of the same bytes. */
  readonly size_bytes: number;
  readonly content_sha256: string;
  readonly fetched_at: string;
  readonly truncated: boolean;
}

export const FAILURE_CODES = [
  'TARGET_NOT_ALLOWED',
  'TARGET_UNREACHABLE',
  'TOO_MANY_REDIRECTS',
  'RESPONSE_TOO_LARGE',
  'TLS_ERROR',
  'TARGET_TIMEOUT',
  'INTERNAL_ERROR',
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

export interface ResolveFailure {
  readonly code: FailureCode;
  readonly message: string;
}

/** How the work of a resolve ended. */
export type ResolveOutcome =
  | { readonly status: 'resolved'; readonly result: ResolveResult; readonly failure: null }
  | { readonly status: 'failed'; readonly result: null; readonly failure: ResolveFailure };

const MESSAGES: Readonly<Record<FailureCode, string>> = {
  TARGET_NOT_ALLOWED: 'the address, or one that it redirects to, may not be fetched from here',
  TARGET_UNREACHABLE: 'the name does not resolve, nothing answers there, or the answer is broken',
  TOO_MANY_REDIRECTS: 'the address redirects more than ten times',
  RESPONSE_TOO_LARGE: `the answer has ${TOO_LARGE_ANSWER}`,
  TLS_ERROR: 'the target has no certificate that holds for its name, or no TLS',
  TARGET_TIMEOUT: 'the target did not answer in time',
  INTERNAL_ERROR: 'the server failed while it resolved the address',
};

/** @param reason replaces the code's default message */
export const failedWith = (code: FailureCode, reason: string = MESSAGES[code]): ResolveOutcome => ({
  status: 'failed',
  result: null,
  failure: { code, message: reason },
});
