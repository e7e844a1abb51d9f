/**
 * Real senders: webhooks signed by the senders' own libraries arrive, and the same libraries verify them from the raw route
 * and the retained headers, on both runtimes.
 */
import { Webhooks } from '@octokit/webhooks';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer, type Callback, createCallback, eventsOf, post, type ShownEvent } from '../support/callback-client.ts';
import { type OpenedApp, openedApp, RUNTIME } from '../support/opened-app.ts';

/** Numbers, escapes and order that a parse and a print would change, and a size that goes to the store. */
const bodyOf = (padding: number): string =>
  `{ "id": "evt_1", "object": "event", "amount": 9007199254740993, "rate": 1.0, "text": "\\u00e9\\/ é \u{1f600}", "2": 0, "1": 0, "padding": "${'p'.repeat(padding)}" }`;

const STANDARD_SECRET = `whsec_${Buffer.from('a secret of twenty-four bytes').toString('base64')}`;
const STRIPE_SECRET = 'whsec_stripe_test';
const GITHUB_SECRET = 'github secret';

interface Sender {
  readonly name: string;
  headers(body: string): Promise<Record<string, string>>;
  /** Throws, or resolves to false, when the signature is not right. */
  verify(body: string, headers: Record<string, string>): Promise<boolean>;
}

const stripe = new Stripe('sk_test_none');
const svix = new SvixWebhook(STANDARD_SECRET);
const standard = new StandardWebhook(STANDARD_SECRET);
const github = new Webhooks({ secret: GITHUB_SECRET });

const SENDERS: readonly Sender[] = [
  {
    name: 'stripe',
    headers: async (body) => ({
      'stripe-signature': stripe.webhooks.generateTestHeaderString({ payload: body, secret: STRIPE_SECRET }),
    }),
    verify: async (body, headers) => {
      stripe.webhooks.constructEvent(body, headers['stripe-signature'] ?? '', STRIPE_SECRET);
      return true;
    },
  },
  {
    name: 'svix',
    headers: async (body) => {
      const now = new Date();
      return {
        'svix-id': 'msg_1',
        'svix-timestamp': String(Math.floor(now.getTime() / 1000)),
        'svix-signature': svix.sign('msg_1', now, body),
      };
    },
    verify: async (body, headers) => {
      svix.verify(body, headers);
      return true;
    },
  },
  {
    name: 'standardwebhooks',
    headers: async (body) => {
      const now = new Date();
      return {
        'webhook-id': 'msg_2',
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': standard.sign('msg_2', now, body),
      };
    },
    verify: async (body, headers) => {
      standard.verify(body, headers);
      return true;
    },
  },
  {
    name: '@octokit/webhooks',
    headers: async (body) => ({ 'x-hub-signature-256': await github.sign(body), 'x-github-event': 'push' }),
    verify: async (body, headers) => github.verify(body, headers['x-hub-signature-256'] ?? ''),
  },
];

const verifies = (sender: Sender, body: string, headers: Record<string, string>): Promise<boolean> =>
  sender.verify(body, headers).catch(() => false);

describe(`real senders on ${RUNTIME}`, () => {
  let server: OpenedApp;
  beforeAll(async () => {
    server = await openedApp({ SNAPSHOT: 'none' });
  });
  afterAll(async () => {
    await server.close();
  });

  const rawOf = async (callback: Callback, event: ShownEvent): Promise<string> => {
    const url = `/v1/callbacks/${callback.id}/events/${event.id}/raw`;
    const response = await server.fetch(url, { headers: bearer(callback) });
    expect(response.status).toBe(200);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await response.arrayBuffer());
  };

  it.each(SENDERS.flatMap((sender) => [0, 50_000].map((padding) => ({ sender, name: sender.name, padding }))))(
    '$name verifies what it signed, with $padding bytes of padding',
    async ({ sender, padding }) => {
      const callback = await createCallback(server);
      const body = bodyOf(padding);
      const headers = { 'content-type': 'application/json', ...(await sender.headers(body)) };
      expect((await post(server, callback.id, body, { headers })).status).toBe(200);
      const [event] = await eventsOf(server, callback);
      if (event === undefined) throw new Error('nothing was stored');
      const raw = await rawOf(callback, event);
      expect(raw).toBe(body);
      expect(await verifies(sender, raw, event.headers)).toBe(true);
      // The check can fail: another byte, and the JSON printed anew, are not what was signed.
      expect(await verifies(sender, raw.replace('993', '992'), event.headers)).toBe(false);
      expect(await verifies(sender, JSON.stringify(event.body), event.headers)).toBe(false);
    },
  );
});
