/** What the servers and whoever measures them agree on. */

/** A response as it is on the wire, without what the runtime adds. */
export interface WireResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The payer of every payment that is not verified. */
export const PAYER = '0x00000000000000000000000000000000000000aa';
