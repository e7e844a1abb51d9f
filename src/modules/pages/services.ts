/** What the pages are given. */
import type { Route } from '../../http/route.ts';
import type { CurrentCatalogue } from '../jobs/envelope.ts';

export interface PageServices {
  readonly catalogue: CurrentCatalogue;
  readonly clock: { nowMs(): number };
  readonly files: PageFiles;
  /** Every operation of the API, whose declarations say what is sold and what is free. */
  readonly operations: readonly Route[];
  readonly facts: PageFacts;
}

/** What a visitor may know of the configuration. */
export interface PageFacts {
  readonly version: string;
  /** Public address of the API, no trailing slash. */
  readonly baseUrl: string;
  /** Public address of the webhook host, no trailing slash. */
  readonly hookBaseUrl: string;
  /** CAIP-2 name of the one network. */
  readonly network: string;
  /** True where payments move in a play ledger and nothing is on a chain. */
  readonly isPlay: boolean;
  /** Recipient of the payments. */
  readonly payTo: string;
}

/** The style sheets, scripts and pictures of the pages. */
export interface PageFiles {
  /** Changes whenever any file does: part of their addresses, so that what was fetched once is never asked for again. */
  readonly digest: string;
  find(name: string): PageFile | undefined;
}

export interface PageFile {
  readonly type: string;
  readonly bytes: Uint8Array;
  /** Of the bytes, hex. */
  readonly digest: string;
  /** Made when it is first asked for. */
  gzipped(): Promise<Uint8Array>;
}
