/** An inbox with a clock that the test owns, and shortcuts for using it. */
import type { DisconnectListener } from '../../src/base/disconnect-listener.ts';
import { type BodyForm, bodyFormOf } from '../../src/base/media-type.ts';
import type {
  Absent,
  CallbackDraft,
  CallbackHandle,
  Callbacks,
  Client,
  Created,
  EventJson,
  Parked,
  RawBody,
  RawFound,
  Received,
  Waited,
  Waiter,
} from '../../src/callback/callbacks.ts';
import { retainedHeaders, type Webhook } from '../../src/callback/event.ts';
import { JsonPieces } from '../../src/callback/event-json.ts';
import type { CallbackId } from '../../src/callback/identifier.ts';
import type { EventStore } from '../../src/callback/inbox/event-store.ts';
import { Inbox, type InboxPorts } from '../../src/callback/inbox/inbox.ts';
import { CLAIM_BYTES } from '../../src/callback/limits.ts';
import { MemoryEventStore } from '../../src/storage/memory/event-store.ts';
import { Chance } from './chance.ts';
import { ManualTime } from './manual-time.ts';

export interface FinishedListing {
  readonly kind: 'events';
  readonly events: readonly string[];
}

export interface FinishedRaw {
  readonly kind: 'raw';
  readonly contentType: string | null;
  readonly bytes: Buffer;
}

/** The whole JSON of an event as its answer shows it. */
export async function jsonOf(event: EventJson): Promise<string | Absent> {
  if (typeof event === 'string') return event;
  const json = new JsonPieces<Absent>([event]);
  const pieces: Uint8Array[] = [];
  for (let piece = await json.next(); piece !== null; piece = await json.next()) {
    if ('kind' in piece) return piece;
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

/** @throws Error when the callback ends before the last part is read */
export async function finishedRaw({ contentType, sizeBytes, event }: RawBody): Promise<FinishedRaw> {
  const parts: Uint8Array[] = [];
  let byteCount = 0;
  while (byteCount < sizeBytes) {
    const part = await event.read(parts.length);
    if (!('bytes' in part)) throw new Error(part.kind);
    parts.push(part.bytes);
    byteCount += part.bytes.length;
  }
  return { kind: 'raw', contentType, bytes: Buffer.concat(parts) };
}

/** An inbox that knows its callbacks' tokens, so that a test can name a callback by its id alone. */
export class NamedInbox extends Inbox {
  readonly tokens: Map<CallbackId, string>;

  constructor(capacityBytes: number, ports: InboxPorts, tokens: Map<CallbackId, string> = new Map()) {
    super(capacityBytes, ports);
    this.tokens = tokens;
  }

  override async create(draft: CallbackDraft = this.draft()): Promise<Created> {
    const created = await super.create(draft);
    this.tokens.set(created.id, created.readToken);
    return created;
  }

  /** Finds the callback like a request with the read token. */
  find(id: CallbackId): CallbackHandle | Absent {
    const authorized = this.authorize(id, this.tokens.get(id) ?? '');
    if (authorized.kind === 'wrong-token') throw new Error(`the token of ${id} is not known`);
    return authorized.kind === 'allowed' ? authorized.callback : authorized;
  }

  /** With every event finished. */
  async eventsOf(id: CallbackId): Promise<FinishedListing | Absent> {
    const found = this.find(id);
    if (!('id' in found)) return found;
    const listing = await this.events(found);
    if (listing.kind !== 'events') return listing;
    const events: string[] = [];
    for (const event of listing.events) {
      const json = await jsonOf(event);
      if (typeof json !== 'string') return json;
      events.push(json);
    }
    return { kind: 'events', events };
  }

  /** With all bytes. */
  async rawOf(id: CallbackId, eventId: string): Promise<FinishedRaw | Exclude<RawFound, RawBody>> {
    const found = this.find(id);
    if (!('id' in found)) return found;
    const raw = await this.raw(found, eventId);
    return raw.kind === 'raw' ? finishedRaw(raw) : raw;
  }

  async deleteOf(id: CallbackId): ReturnType<Callbacks['delete']> {
    const found = this.find(id);
    return 'id' in found ? this.delete(found) : found;
  }

  waitOf(id: CallbackId, ...rest: [string | null, number, Client, Waiter]): Waited | Parked | Promise<Waited> {
    const found = this.find(id);
    return 'id' in found ? this.wait(found, ...rest) : found;
  }
}

export interface OpenedInbox {
  readonly time: ManualTime;
  readonly store: EventStore;
  readonly inbox: NamedInbox;
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
  options: {
    roomCount?: number;
    store?: EventStore;
    seed?: number;
    time?: ManualTime;
    /** The tokens of an earlier inbox on the same store. */
    tokens?: Map<CallbackId, string>;
  } = {},
): OpenedInbox {
  const time = options.time ?? new ManualTime();
  const store = options.store ?? new MemoryEventStore();
  const faults: unknown[] = [];
  const ports: InboxPorts = {
    clock: time,
    timers: time,
    random: new Chance(options.seed ?? 1),
    store,
    onFailure: (fault) => faults.push(fault),
  };
  const inbox = new NamedInbox((options.roomCount ?? 1_000) * CLAIM_BYTES, ports, options.tokens);
  return {
    time,
    store,
    inbox,
    faults,
    async create() {
      if (!inbox.capacity.tryClaim()) throw new Error('no room');
      return inbox.create();
    },
    async post(id, body = 'x', contentType = 'text/plain') {
      const admission = inbox.admit(id);
      if (admission.kind !== 'admitted') return admission;
      return inbox.receive(admission.callback, webhookOf(body, contentType));
    },
  };
}

/** A client that stays, or leaves when `leave` is called; `listeningCount`: the listeners that are not over. */
export function client(): Client & { readonly listeningCount: number; leave(): void } {
  const listeners: DisconnectListener[] = [];
  let isGone = false;
  return {
    isDisconnected: () => isGone,
    onDisconnect: (listener) => listeners.push(listener),
    get listeningCount() {
      return listeners.filter(({ isOver }) => !isOver).length;
    },
    leave() {
      isGone = true;
      for (const listener of listeners.splice(0)) listener.handleEvent();
    },
  };
}

/** The outcome of a wait: at once, or as a promise when it is parked. */
export function waitOn(
  inbox: NamedInbox,
  id: CallbackId,
  after: string | null,
  timeoutMs: number,
  from: Client = client(),
): Waited | Promise<Waited> {
  let parked: (how: Waited) => void = () => {};
  const end = new Promise<Waited>((resolve) => {
    parked = resolve;
  });
  const waited = inbox.waitOf(id, after, timeoutMs, from, { woken: parked });
  return !(waited instanceof Promise) && waited.kind === 'parked' ? end : waited;
}
