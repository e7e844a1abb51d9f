/** The messages between the extractor and its threads. A thread has one document at a time. */

import type { PageContent } from '../../resolve/result.ts';
import type { Document, Measured } from '../../resolve/work.ts';

export interface ThreadTask {
  readonly document: Document;
  /** Its resolve has no time left: the document is unpacked and measured, not read. */
  readonly isLate: boolean;
}

export type ThreadReply =
  /** Once, when the thread takes documents. `thread`: as `ownThreadNumber` found it. */
  | { readonly kind: 'ready'; readonly thread: number | undefined }
  /**
   * The document is unpacked: known from here on, whatever becomes of the rest. From now on it is being read, and its time runs;
   * one that is late ends here.
   */
  | (Measured & { readonly kind: 'measured' })
  | { readonly kind: 'content'; readonly content: PageContent }
  /** The document cannot be unpacked. */
  | { readonly kind: 'too-large' | 'broken' }
  /** The document broke the extraction, which is a bug of ours. */
  | { readonly kind: 'failed'; readonly detail: string };
