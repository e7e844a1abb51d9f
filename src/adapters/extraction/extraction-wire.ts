/** The messages between the extractor and its threads. A thread has one document at a time. */

import type { DocumentToRead } from '../../resolve/extraction/extract.ts';
import type { PageContent } from '../../resolve/result.ts';

export type ThreadTask = DocumentToRead;

export type ThreadReply =
  /** Once, when the thread takes documents. `thread`: as `ownThreadNumber` found it. */
  | { readonly kind: 'ready'; readonly thread: number | undefined }
  /**
   * SHA-256 of the body, 64 hex digits: first, so that it is known whatever becomes of the rest. From then on the document is
   * being read, and its time runs.
   */
  | { readonly kind: 'digest'; readonly sha256: string }
  | { readonly kind: 'content'; readonly content: PageContent }
  /** The document broke the extraction, which is a bug of ours. */
  | { readonly kind: 'failed'; readonly detail: string };
