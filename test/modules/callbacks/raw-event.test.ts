/** GET …/raw answers whatever a store holds, read through the real inbox. */
import { describe, expect, it } from 'vitest';
import type { Callbacks } from '../../../src/callback/callbacks.ts';
import type { Reply } from '../../../src/http/answers.ts';
import type { RequestView } from '../../../src/http/request-view.ts';
import { rawEvent } from '../../../src/modules/callbacks/raw-event.ts';
import type { CallbackServices } from '../../../src/modules/callbacks/services.ts';
import { openInbox, webhookOf } from '../../support/opened-inbox.ts';

describe('the raw bytes of an event', () => {
  it.each([
    ['text/plain; x="\x7f"', undefined],
    ['text/plain\r\nset-cookie: a=b', undefined],
    ['text/plain; x="\u0100"', undefined],
    ['text/plain; x="\t\xff"', 'text/plain; x="\t\xff"'],
  ])('come with the type %j that was stored as %j', async (stored, shown) => {
    for (const length of [1, 10_000]) {
      const { inbox, create } = openInbox();
      const { id } = await create();
      const admission = inbox.admit(id);
      if (admission.kind !== 'admitted') throw new Error(admission.kind);
      const webhook = { ...webhookOf('x'.repeat(length)), retained: [['content-type', stored] as const] };
      const received = await inbox.receive(admission.callback, webhook);
      if (received.kind !== 'stored') throw new Error(received.kind);
      const request = { params: { id, event_id: received.eventId } } as unknown as RequestView;
      const principal = { callback: admission.callback } as never;
      const services = { callbacks: inbox as Callbacks } as CallbackServices;
      const reply = (await rawEvent.handle(undefined as never, services, request, principal)) as Reply;
      expect(reply.body).toHaveLength(length);
      expect(new Response(null, { headers: reply.headers }).headers.get('x-original-content-type') ?? undefined).toBe(
        shown,
      );
    }
  });
});
