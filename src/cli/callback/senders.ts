/** Signatures of webhooks, each checked over the exact bytes with the sender's own library. */
import { Buffer } from 'node:buffer';
import { messageOf } from '../../base/failure.ts';
import { optional } from '../optional-package.ts';

export const SENDERS = ['stripe', 'svix', 'standardwebhooks', 'github'] as const;
export type Sender = (typeof SENDERS)[number];

export interface Signed {
  readonly bytes: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
  readonly secret: string;
  /** When the callback received the event, milliseconds since 1970. */
  readonly receivedAtMs: number;
}

/** Stripe's own timestamp must lie within this many seconds of the receipt. */
const STRIPE_TOLERANCE_SECONDS = 300;

/**
 * null when the sender's library accepts the signature, otherwise the library's message.
 * @throws CommandError when the library is not installed
 */
export async function signatureFaultOf(
  sender: Sender,
  { bytes, headers, secret, receivedAtMs }: Signed,
): Promise<string | null> {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const purpose = 'verifying needs the library of the sender';
  let verify: () => unknown;
  switch (sender) {
    case 'stripe': {
      const { default: Stripe } = await optional(() => import('stripe'), purpose, 'stripe');
      const { webhooks } = new Stripe('sk_not_used');
      const signature = headers['stripe-signature'] ?? '';
      verify = () =>
        webhooks.constructEventAsync(body, signature, secret, STRIPE_TOLERANCE_SECONDS, undefined, receivedAtMs);
      break;
    }
    case 'svix': {
      const { Webhook } = await optional(() => import('svix'), purpose, 'svix');
      verify = () => new Webhook(secret).verify(body, headers);
      break;
    }
    case 'standardwebhooks': {
      const { Webhook } = await optional(() => import('standardwebhooks'), purpose, 'standardwebhooks');
      verify = () => new Webhook(secret).verify(body, headers);
      break;
    }
    case 'github': {
      const { Webhooks } = await optional(() => import('@octokit/webhooks'), purpose, '@octokit/webhooks');
      verify = async () => {
        const signature = headers['x-hub-signature-256'] ?? '';
        if (!(await new Webhooks({ secret }).verify(body.toString('utf8'), signature))) throw new Error('no match');
      };
      break;
    }
    default:
      return sender satisfies never;
  }
  try {
    await verify();
    return null;
  } catch (failure) {
    return messageOf(failure);
  }
}
