/**
 * GET /.well-known/x402: every paid operation of all surfaces with its offer, for indexers that do not use a facilitator's
 * list (x402-v2 §7.4). There is no standard yet: x402scan reads `version` and `resources`; `items` has the entries of a
 * facilitator's discovery list.
 */
import * as v from 'valibot';
import { Reply } from '../../http/answers.ts';
import { route } from '../../http/route.ts';
import { PAYMENT_IDENTIFIER } from '../../payment/protocol/identifier.ts';
import { NETWORK_IDS, SCHEME, X402_VERSION } from '../../payment/protocol/network.ts';
import type { ServiceServices } from './services.ts';

const requirements = v.strictObject({
  scheme: v.literal(SCHEME),
  network: v.picklist(NETWORK_IDS),
  amount: v.string(),
  asset: v.string(),
  payTo: v.string(),
  maxTimeoutSeconds: v.number(),
  extra: v.strictObject({ name: v.string(), version: v.string() }),
});

const item = v.strictObject({
  resource: v.pipe(v.string(), v.url()),
  type: v.literal('http'),
  method: v.picklist(['GET', 'POST']),
  x402Version: v.literal(X402_VERSION),
  description: v.string(),
  mimeType: v.string(),
  serviceName: v.string(),
  accepts: v.array(requirements),
  extensions: v.strictObject({ bazaar: v.looseObject({}), [PAYMENT_IDENTIFIER]: v.looseObject({}) }),
});

export const x402Listing = route<ServiceServices>()({
  operation: 'x402Listing',
  method: 'GET',
  path: '/.well-known/x402',
  summary: 'The paid operations and their prices',
  access: [],
  relation: 'service-meta',
  answer: v.strictObject({
    version: v.literal(1),
    x402Version: v.literal(X402_VERSION),
    resources: v.array(v.pipe(v.string(), v.url())),
    items: v.array(item),
  }),
  cacheControl: 'public, max-age=60',
  errors: [],
  handle: (_, { documents }) => new Reply(documents.x402Listing(), { 'content-type': 'application/json' }),
});
