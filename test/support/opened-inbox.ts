/** An inbox on a time that the test owns, and short ways to use it. */

import type { DisconnectListener } from '../../src/base/disconnect-listener.ts';
import { retainedHeaders, type Webhook } from '../../src/callback/event.ts';
import type { CallbackId } from '../../src/callback/identifier.ts';
import { type Created, Inbox, type Received, type Waited } from '../../src/callback/inbox/inbox.ts';
import { MemoryStore } from '../../src/callback/inbox/memory-store.ts';
import type { CallbackStore } from '../../src/callback/inbox/store.ts';
import type { Client } from '../../src/callback/inbox/waiters.ts';
import { CLAIM_BYTES } from '../../src/callback/limits.ts';
import { type BodyForm, bodyFormOf } from '../../src/callback/media-type.ts';
import { Chance } from './chance.ts';
import { ManualTime } from './manual-time.ts';

export interface OpenedInbox {
  readonly time: ManualTime;
  readonly store: CallbackStore;
  readonly inbox: Inbox;
  readonly faults: unknown[];
  /** Claims and creates. */
  create(): Promise<Created>;
  /** Admits and stores; text/plain unless told otherwise. */
  post(id: CallbackId, body?: string | Uint8Array, contentType?: string | null): Promise<Posted>;
}

export type Posted = Received | { readonly kind: 'too-many'; readonly retryAfterMs: number };

export function webhookOf(
  body: string | Uint8Array,
  contentType: string | null = 'text/plain',
  method = 'POST',
): Webhook {
  const form: BodyForm | undefined = bodyFormOf(contentType);
  if (form === undefined) throw new Error(`no body form for ${contentType}`);
  return {
    method,
    form,
    retained: retainedHeaders((name) => (name === 'content-type' ? contentType : null)),
    bytes: typeof body === 'string' ? new TextEncoder().encode(body) : body,
  };
}

export function openInbox(
  options: { roomCount?: number; store?: CallbackStore; seed?: number; time?: ManualTime } = {},
): OpenedInbox {
  const time = options.time ?? new ManualTime();
  const store = options.store ?? new MemoryStore();
  const faults: unknown[] = [];
  const inbox = new Inbox((options.roomCount ?? 1_000) * CLAIM_BYTES, {
    clock: time,
    timers: time,
    random: new Chance(options.seed ?? 1),
    store,
    onStoreFault: (fault) => faults.push(fault),
  });
  return {
    time,
    store,
    inbox,
    faults,
    async create() {
      if (!inbox.room.tryClaim()) throw new Error('no room');
      return inbox.create();
    },
    async post(id, body = 'x', contentType = 'text/plain') {
      const admission = inbox.admit(id);
      if (admission.kind !== 'admitted') return admission;
      return inbox.receive(admission.callback, webhookOf(body, contentType));
    },
  };
}

/** A client that stays, or leaves when `leave` is called. */
export function client(): Client & { leave(): void } {
  const listeners: DisconnectListener[] = [];
  let isGone = false;
  return {
    isDisconnected: () => isGone,
    onDisconnect: (listener) => listeners.push(listener),
    leave() {
      isGone = true;
      for (const listener of listeners.splice(0)) listener.handleEvent();
    },
  };
}

/** What a wait comes to: at once, or a promise of its end when it is parked. */
export function waitOn(
  inbox: Inbox,
  id: CallbackId,
  after: string | null,
  timeoutMs: number,
  from: Client = client(),
): Waited | Promise<Waited> {
  let parked: (how: Waited) => void = () => {};
  const end = new Promise<Waited>((resolve) => {
    parked = resolve;
  });
  const waited = inbox.wait(id, after, timeoutMs, from, { woken: parked });
  return !(waited instanceof Promise) && waited.kind === 'parked' ? end : waited;
}
