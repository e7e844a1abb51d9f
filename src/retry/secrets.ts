/** The parts of a job that no answer and no log shows: its request, and the address and secret of its completion event. */
import type { HeaderPairs } from './request-headers.ts';

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export interface CustomerRequest {
  readonly method: (typeof METHODS)[number];
  readonly url: string;
  readonly headers: HeaderPairs;
  /** null: no body. */
  readonly body: string | null;
}

export interface CallbackAddress {
  readonly url: string;
  /** `whsec_` and base64. */
  readonly secret: string;
}

export interface JobSecrets {
  /** null once the job has ended. */
  readonly request: CustomerRequest | null;
  readonly callback: CallbackAddress | null;
}

/** The secrets as text, to be sealed. */
export const secretsText = (secrets: JobSecrets): string => JSON.stringify(secrets);

/** @param text as {@link secretsText} gave it */
export const secretsOf = (text: string): JobSecrets => JSON.parse(text) as JobSecrets;
