/** Callbacks, accounts, retries and resolves of a state file as rows of the shared database. */
import type { EventPart } from '../../../callback/event.ts';
import type { LoadedCallback, LoadedEvent } from '../../../callback/inbox/event-store.ts';
import { EVENT_PART_BYTES, TOMBSTONE_MS } from '../../../callback/limits.ts';
import { encodeJob } from '../../retry-record.ts';
import { DamagedError } from '../../sqlite/checksum.ts';
import type { Connection } from '../../sqlite/connection.ts';
import { loadAccounts } from '../../sqlite/tables/accounts.ts';
import { CALLBACKS, type EventQuery, loadCallbacks } from '../../sqlite/tables/callbacks.ts';
import { loadResolves, type OutcomeQuery, RESOLVES } from '../../sqlite/tables/resolves.ts';
import { everyRetry, everyUsage } from '../../sqlite/tables/retries.ts';
import { answerTo } from '../../sqlite/tables/tables.ts';
import { COPIED } from './payments.ts';
import type { CopiedTable } from './rows.ts';

/** The start of a head, before its rest: the id and the time to the second. */
const HEAD_START = /^\{"id":"evt_[0-9a-f]{32}","received_at":"[0-9TZ:-]{20}",/;

function bytesOfEvent(connection: Connection, { callback: { id } }: LoadedCallback, event: LoadedEvent): Uint8Array {
  if (event.bytes !== null) return event.bytes;
  const parts: Uint8Array[] = [];
  for (let index = 0; index * EVENT_PART_BYTES < event.sizeBytes; index++) {
    const query: EventQuery = { table: CALLBACKS, callback: id, eventId: event.id, index };
    const part = answerTo(connection, query) as EventPart | undefined;
    if (part === undefined) throw new DamagedError(`event ${event.id}`);
    parts.push(part.bytes);
  }
  return Buffer.concat(parts);
}

function* eventRows(connection: Connection, loaded: readonly LoadedCallback[]): Iterable<readonly unknown[]> {
  for (const one of loaded) {
    for (const [place, event] of one.events.entries()) {
      const { id, receivedAtSeconds, head, form, sizeBytes } = event;
      const charset = form.kind === 'text' ? form.charset : null;
      const body = bytesOfEvent(connection, one, event);
      yield [one.callback.id, id, place + 1, receivedAtSeconds, head.replace(HEAD_START, ''), charset, sizeBytes, body];
    }
  }
}

/** @throws DamagedError */
export function callbackTables(connection: Connection, nowMs: number): { liveCount: number; tables: CopiedTable[] } {
  const isLive = ({ callback }: LoadedCallback): boolean => callback.expiresAtMs > nowMs;
  const loaded = loadCallbacks(connection, nowMs - TOMBSTONE_MS).map((one) =>
    isLive(one) ? one : { ...one, events: [] },
  );
  const tables: CopiedTable[] = [
    {
      name: 'callbacks',
      columns: [
        ['id', 'text'],
        ['token_digest', 'bytea'],
        ['expires_ms', 'bigint'],
        ['event_count', 'integer'],
        ['last_event_id', 'text'],
        ['last_received_s', 'bigint'],
        ['is_over', 'boolean'],
      ],
      rows: loaded.map((one) => {
        const { id, tokenDigest, expiresAtMs } = one.callback;
        const last = one.events.at(-1);
        const lastSeconds = Math.max(0, ...one.events.map(({ receivedAtSeconds }) => receivedAtSeconds));
        return [id, tokenDigest, expiresAtMs, one.events.length, last?.id ?? '', lastSeconds, !isLive(one)];
      }),
    },
    {
      name: 'callback_events',
      columns: [
        ['callback_id', 'text'],
        ['id', 'text'],
        ['seq', 'integer'],
        ['received_s', 'bigint'],
        ['head_rest', 'text'],
        ['charset', 'text'],
        ['size', 'integer'],
        ['body', 'bytea'],
      ],
      rows: eventRows(connection, loaded),
    },
  ];
  return { liveCount: loaded.filter(isLive).length, tables };
}

/** @throws DamagedError */
export function accountTables(connection: Connection, nowMs: number): CopiedTable[] {
  const loaded = loadAccounts(connection, nowMs);
  const organizations = [...loaded.organizations];
  return [
    {
      name: 'organizations',
      columns: [
        ['name', 'text'],
        ['month_ms', 'bigint'],
        ['charged', 'bigint'],
        ['subscription', 'bigint'],
        ['subscription_charged', 'bigint'],
      ],
      rows: organizations.map(([name, { monthMs, charged, subscription, subscriptionCharged }]) => {
        return [name, monthMs, charged, subscription, subscriptionCharged];
      }),
    },
    {
      name: 'onboarding_grants',
      columns: [
        ['serial', 'bigint'],
        ['id', 'text'],
        ['organization', 'text'],
        ['amount', 'bigint'],
        ['remaining', 'bigint'],
        ['expires_ms', 'bigint'],
      ],
      rows: organizations.flatMap(([name, { onboarding }]) =>
        onboarding.map(({ serial, amount, remaining, expiresAtMs }) => {
          return [serial, `${COPIED} ${serial}`, name, amount, remaining, expiresAtMs];
        }),
      ),
    },
    {
      name: 'api_keys',
      columns: [
        ['serial', 'bigint'],
        ['id', 'text'],
        ['digest', 'text'],
        ['organization', 'text'],
        ['scopes', 'text'],
        ['created_ms', 'bigint'],
        ['expires_ms', 'bigint'],
        ['used_ms', 'bigint'],
        ['revoked_ms', 'bigint'],
      ],
      rows: [...loaded.keys].map((key, place) => {
        const digest = Buffer.from(key.digest).toString('hex');
        const { id, organization, createdAtMs, expiresAtMs, lastUsedAtMs, revokedAtMs } = key;
        const scopes = key.scopes.join(' ');
        return [place + 1, id, digest, organization, scopes, createdAtMs, expiresAtMs, lastUsedAtMs, revokedAtMs];
      }),
    },
  ];
}

function* retryRows(connection: Connection): Iterable<readonly unknown[]> {
  for (const { job, secrets, resultBody } of everyRetry(connection)) {
    yield [job.id, job.customer, job.idempotency?.key ?? null, job.dueAtMs, encodeJob(job), secrets, resultBody];
  }
}

/** @throws DamagedError */
export function workTables(connection: Connection, nowMs: number): CopiedTable[] {
  return [
    {
      name: 'retries',
      columns: [
        ['id', 'text'],
        ['customer', 'text'],
        ['key_digest', 'text'],
        ['next_ms', 'bigint'],
        ['state', 'text'],
        ['secrets', 'bytea'],
        ['result_body', 'bytea'],
      ],
      rows: retryRows(connection),
    },
    {
      name: 'retry_usage',
      columns: [
        ['organization', 'text'],
        ['month_ms', 'bigint'],
        ['created', 'bigint'],
        ['attempts', 'bigint'],
        ['delivered', 'bigint'],
      ],
      rows: everyUsage(connection).map((one) => {
        return [one.organization, one.monthMs, one.retriesCreated, one.attemptsMade, one.callbacksDelivered];
      }),
    },
    {
      name: 'resolves',
      columns: [
        ['id', 'text'],
        ['token_digest', 'bytea'],
        ['created_ms', 'bigint'],
        ['status', 'text'],
        ['question', 'text'],
        ['outcome', 'text'],
        ['outcome_bytes', 'integer'],
        ['holder', 'text'],
      ],
      rows: loadResolves(connection, nowMs).map(({ id, tokenDigest, createdAtMs, status, question, outcomeBytes }) => {
        const isPending = question !== undefined;
        const query: OutcomeQuery = { table: RESOLVES, id };
        const outcome = isPending ? undefined : answerTo(connection, query);
        const isOver = !isPending && outcome === undefined;
        return [
          id,
          tokenDigest,
          createdAtMs,
          isOver ? 'expired' : status,
          isPending ? JSON.stringify(question) : null,
          outcome ?? null,
          outcomeBytes,
          isPending ? COPIED : null,
        ];
      }),
    },
  ];
}
