/**
 * GET /pages/{digest}/{name}: style sheets, scripts and pictures of the pages. With the current digest, browsers may
 * cache a file for ever. With the digest of another release (from a page that was loaded before an upgrade) the answer
 * is the current file, which browsers must revalidate.
 */
import * as v from 'valibot';
import { Reply } from '../../http/answers.ts';
import { isListed } from '../../http/entity-tags.ts';
import { NOT_FOUND, refuse } from '../../http/errors.ts';
import { route } from '../../http/route.ts';
import type { PageServices } from './services.ts';

const IMMUTABLE = 'public, max-age=31536000, immutable';
/** Smaller files fit into one packet without compression. */
const GZIP_BYTES_MIN = 1_024;

const acceptsGzip = (acceptEncoding: string | null): boolean =>
  (acceptEncoding ?? '')
    .split(',')
    .some((coding) => /^\s*(?:x-)?gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(coding));

/** Both forms of a file are the same to a client that has one. */
const isKnown = (ifNoneMatch: string | null, digest: string): boolean =>
  isListed(`"${digest}"`, ifNoneMatch) || isListed(`"${digest}-gzip"`, ifNoneMatch);

export const pageFile = route<PageServices>()({
  operation: 'pageFile',
  method: 'GET',
  path: '/pages/:digest/:name',
  summary: 'A style sheet, script or picture of the pages',
  access: [],
  answer: v.string(),
  errors: [NOT_FOUND],
  async handle(_, { files }, request) {
    const file = files.find(request.params.name ?? '');
    if (file === undefined) return refuse(NOT_FOUND, 'there is nothing at this path');
    const isGzip = file.bytes.length >= GZIP_BYTES_MIN && acceptsGzip(request.header('accept-encoding'));
    const headers = {
      'content-type': file.type,
      etag: `"${file.digest}${isGzip ? '-gzip' : ''}"`,
      'cache-control': request.params.digest === files.digest ? IMMUTABLE : 'no-cache',
      vary: 'Accept-Encoding',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
    };
    if (isKnown(request.header('if-none-match'), file.digest)) return new Reply(null, headers, 304);
    if (!isGzip) return new Reply(file.bytes, headers);
    return new Reply(await file.gzipped(), { ...headers, 'content-encoding': 'gzip' });
  },
});
