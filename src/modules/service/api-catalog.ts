/**
 * GET and HEAD /.well-known/api-catalog (RFC 9727): a link set (RFC 9264) with links to the contract, its documents and the
 * readiness of the server. This path alone supports HEAD, because the standard requires HEAD with a `Link` header.
 */
import * as v from 'valibot';
import { Reply } from '../../http/answers.ts';
import type { AnswerHeader } from '../../http/contract.ts';
import { API_CATALOG_PATH } from '../../http/documents/api-catalog.ts';
import { route } from '../../http/route.ts';
import type { Documents, ServiceServices } from './services.ts';

const LINKSET_TYPE = 'application/linkset+json';
const CONTENT_TYPE = `${LINKSET_TYPE}; profile="https://www.rfc-editor.org/info/rfc9727"`;

const links = v.array(v.strictObject({ href: v.pipe(v.string(), v.url()), type: v.optional(v.string()) }));

const LINK_HEADER: Readonly<Record<string, AnswerHeader>> = {
  Link: { description: 'Link to the API catalogue, with the relation `api-catalog`', schema: v.string() },
};

const SHARED = {
  path: API_CATALOG_PATH,
  access: [],
  answerType: LINKSET_TYPE,
  answerHeaders: LINK_HEADER,
  cacheControl: 'public, max-age=60',
  errors: [],
} as const;

const catalogReply = (documents: Documents): Reply =>
  new Reply(documents.apiCatalog(), { 'content-type': CONTENT_TYPE, link: documents.apiCatalogLink() });

export const apiCatalog = route<ServiceServices>()({
  ...SHARED,
  operation: 'apiCatalog',
  method: 'GET',
  summary: 'Links to the contract of this API and its documents',
  answer: v.strictObject({
    linkset: v.array(
      v.strictObject({
        anchor: v.pipe(v.string(), v.url()),
        item: v.optional(links),
        'service-desc': v.optional(links),
        'service-doc': v.optional(links),
        'service-meta': v.optional(links),
        status: v.optional(links),
      }),
    ),
  }),
  handle: (_, { documents }) => catalogReply(documents),
});

export const apiCatalogHead = route<ServiceServices>()({
  ...SHARED,
  operation: 'apiCatalogHead',
  method: 'HEAD',
  summary: 'The same without a body',
  answer: v.string(),
  // The runtime sends the length of the body without the body.
  handle: (_, { documents }) => catalogReply(documents),
});
