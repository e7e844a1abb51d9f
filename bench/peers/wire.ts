/** What the servers and the programs that measure them agree on. */

/** A response as it is on the wire, without the headers that the runtime adds. */
export interface WireResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The payer of every unverified payment. */
export const PAYER = '0x00000000000000000000000000000000000000aa';

/** The token of every server in the pairs. */
export const ADMIN_TOKEN = 'a-bench-has-no-secrets-to-keep-from-anyone';
