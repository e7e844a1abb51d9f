/**
 * Admits webhooks: thirty a minute for each id, live or not (decisions §5), counted by a window in the database, which also
 * reads the callback. Webhooks of one turn share a statement. A refusal is remembered here until the window has room, which is
 * exact because refused webhooks do not count; so a flood of one id costs the database thirty passes a minute for each process.
 */
import type { Clock } from '../../../base/clock.ts';
import { detached } from '../../../base/detached.ts';
import { lruMap } from '../../../base/lru-map.ts';
import { chain, type MaybePromise } from '../../../base/maybe-promise.ts';
import { FULL, type WebhookAdmission } from '../../../callback/callbacks.ts';
import type { CallbackId } from '../../../callback/identifier.ts';
import { EVENT_COUNT_MAX, RATE_WINDOW_MS, UNKNOWN_ID_COUNT_MAX } from '../../../callback/limits.ts';
import type { Row } from '../connections.ts';
import type { Database } from '../database.ts';
import { Group } from '../groups.ts';
import { endOf } from './rows.ts';
import { ADMIT } from './statements.ts';

export class Admissions {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #processId: string;
  #groupCount = 0;
  readonly #group: Group<CallbackId, WebhookAdmission>;
  /** Monotonic time until which an id has no room. */
  readonly #fullUntilMs = lruMap<CallbackId, number>(UNKNOWN_ID_COUNT_MAX);

  /** @param processId names this process, for the whole of its life */
  constructor(database: Database, clock: Clock, processId: string) {
    this.#database = database;
    this.#clock = clock;
    this.#processId = processId;
    this.#group = new Group((ids) => this.#admit(ids), { keyOf: (id) => id, takesRepeatedKeys: true });
  }

  admit(id: CallbackId): MaybePromise<WebhookAdmission> {
    const leftMs = (this.#fullUntilMs.get(id) ?? 0) - this.#clock.monotonicMs();
    if (leftMs > 0) return { kind: 'too-many', retryAfterMs: leftMs };
    return chain(this.#group.add(id), (admission) => {
      if (admission.kind === 'too-many') {
        this.#fullUntilMs.set(detached(id), this.#clock.monotonicMs() + admission.retryAfterMs);
      }
      return admission;
    });
  }

  /** @param ids sorted, with repeats */
  async #admit(ids: readonly CallbackId[]): Promise<WebhookAdmission[]> {
    const tries = new Map<CallbackId, number>();
    for (const id of ids) tries.set(id, (tries.get(id) ?? 0) + 1);
    const rows = await this.#database.run({
      ...ADMIT,
      values: [[...tries.keys()], [...tries.values()], `${this.#processId} ${++this.#groupCount}`],
    });
    const byId = new Map(rows.map((row) => [row.id as CallbackId, { row, left: row.passed as number }]));
    return ids.map((id) => {
      const found = byId.get(id);
      if (found === undefined) throw new Error(`no answer about ${id}`);
      return found.left-- > 0 ? admissionOf(id, found.row) : tooMany(found.row);
    });
  }
}

function tooMany({ oldest_ms, now_ms }: Row): WebhookAdmission {
  const retryAfterMs = (oldest_ms as number) + RATE_WINDOW_MS - (now_ms as number);
  return { kind: 'too-many', retryAfterMs: Math.max(1, retryAfterMs) };
}

function admissionOf(id: CallbackId, row: Row): WebhookAdmission {
  const ended = endOf(row);
  if (ended !== undefined) return ended;
  if ((row.event_count as number) >= EVENT_COUNT_MAX) return FULL;
  return { kind: 'admitted', callback: { id, expiresAtMs: row.expires_ms as number } };
}
