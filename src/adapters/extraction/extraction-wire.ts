/** The messages between the extractor and its threads. A thread has one document at a time. */
import type { PageContent } from '../../resolve/result.ts';
import type { Document, Measured } from '../../resolve/work.ts';

export interface ThreadTask {
  readonly document: Document;
  /** Its resolve has no time left: the document is unpacked and measured, not read. */
  readonly isLate: boolean;
}

/** The thread's first message: it is ready for documents. */
export interface ThreadReady {
  /** As `ownThreadNumber` found it. */
  readonly thread: number | undefined;
}

export type ThreadReply =
  /**
   * The document is unpacked, and these measurements stand whatever happens next. Now its extraction begins and its
   * time runs; for a late document this is the last message.
   */
  | (Measured & { readonly kind: 'measured' })
  | { readonly kind: 'content'; readonly content: PageContent }
  /** The document cannot be unpacked. */
  | { readonly kind: 'too-large' | 'broken' }
  /** The extraction threw on this document, which is a bug of ours. `detail`: its stack. */
  | { readonly kind: 'failed'; readonly detail: string };
