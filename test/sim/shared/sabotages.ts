/** Changes to the program that each break one promise of several processes, and the words in which the simulator must report it. */
import type { Sabotage } from '../sabotages.ts';

export const SHARED_SABOTAGES: readonly Sabotage[] = [
  {
    what: 'a claim has no unique key',
    changes: [
      ['storage/postgres/claims.ts', '  ON CONFLICT (key) DO NOTHING\n', ''],
      [
        'storage/postgres/tables/payments.ts',
        'key bytea PRIMARY KEY,\n       serial',
        'key bytea NOT NULL,\n       serial',
      ],
    ],
    found: /I1 one (answer|sale)/,
  },
  {
    what: 'a wait is looked at once and never again',
    changes: [
      [
        'storage/postgres/callbacks/waits.ts',
        '      this.#pollLater();\n      if (!this.#isPolling) void this.#poll();',
        '      if (!this.#isPolling) void this.#poll();',
      ],
    ],
    found: /W1 no wake-up is lost|W2 woken by the poll/,
  },
  {
    what: 'the wait that is furthest behind is not looked for',
    changes: [['storage/postgres/callbacks/waits.ts', 'seen: Math.min(...seqs)', 'seen: Math.max(...seqs)']],
    found: /W1 no wake-up is lost|W2 woken by the poll/,
  },
  {
    what: 'a lease is shorter than the pause between its renewals',
    changes: [['storage/postgres/owners.ts', 'export const LEASE_MS = 10_000;', 'export const LEASE_MS = 2_000;']],
    // With so short a lease each renewal counts as a break in the contact, so no dead process is ever removed.
    found: /O1 the living keep what they hold|L1 (taken over|everything ends)|L2 |N5 nothing stays claimed/,
  },
  {
    what: 'a lease that ran out in an outage is renewed by the next look alone',
    changes: [
      ['storage/postgres/reservations.ts', '    await this.#owner.renewLostLease();\n', ''],
      [
        'storage/postgres/owners.ts',
        'if (this.#isEnded || sentMs < this.#renewedMs) return;',
        // As the probe that ends an outage finds it.
        'if (this.#isEnded || sentMs < this.#renewedMs || this.#database.fault() !== undefined) return;',
      ],
    ],
    found: /L4 sales go on/,
  },
  {
    what: 'a database that is away is probed every three seconds',
    changes: [['storage/postgres/database.ts', 'const PROBE_PAUSE_MS = 250;', 'const PROBE_PAUSE_MS = 3000;']],
    found: /L4 sales go on/,
  },
  {
    what: 'what a dead process held is taken over by none',
    changes: [
      ['storage/postgres/reservations.ts', 'owner.onLook(() => this.#takeOver());', ''],
      ['storage/postgres/reservations.ts', 'await this.#takeOver();', ''],
    ],
    found: /L1 (taken over|everything ends)/,
  },
  {
    what: 'an earlier try whose answer was lost is not recognised',
    changes: [
      [
        'storage/postgres/reservations.ts',
        'if (found !== undefined && found.owner === this.#owner.id && found.attempt === attempt) {',
        'if (found !== undefined && found.attempt < 0) {',
      ],
      // Without it such a claim is one of this process that nothing holds, so it is made again.
      [
        'storage/postgres/reservations.ts',
        'return isOurs && this.#open.get(key)?.attempt !== found.attempt ? undefined : found.status;',
        'return found.status;',
      ],
    ],
    found: /L2 /,
  },
  {
    what: 'money moves although the intent is in doubt',
    changes: [
      ['storage/postgres/reservations.ts', "if (recorded === 'there' && !this.#owner.isLeaseLost) return;", 'return;'],
    ],
    found: /I3 recorded first|I1 one (answer|sale)|I4 |N1 one charge for a name/,
  },
  {
    what: 'a claim that is in doubt is never given back',
    changes: [
      ['storage/postgres/doubts.ts', 'for (const doubt of doubts) await this.tidy(doubt);', 'doubts.length = 0;'],
      ['storage/postgres/doubts.ts', 'await this.#parts.claims.freeStrays(last, live);', ''],
    ],
    found: /L2 /,
  },
  {
    what: 'a claim that comes after its release is left alone',
    changes: [['storage/postgres/doubts.ts', 'await this.#parts.claims.freeStrays(last, live);', '']],
    found: /L2 |N4 /,
  },
  {
    what: 'a transfer whose answer was lost counts as not made',
    changes: [
      [
        'storage/postgres/play-ledger.ts',
        "if (failure instanceof InDoubtError) return { kind: 'unknown', transaction: '', detail };",
        "if (failure instanceof InDoubtError) return { kind: 'unavailable', detail };",
      ],
    ],
    found: /I4 |I17 |N1 one charge/,
  },
  {
    what: 'a transfer that is decided alone fails those that were moved before it',
    changes: [
      [
        'storage/postgres/play-ledger.ts',
        'ends.push(verdict ?? (await this.#transferAlone(order)));',
        'ends.push(verdict ?? ((await this.#transferTogether([order]))[0] as Verdict));',
      ],
    ],
    found: /I4 |I17 |L2 |N1 one charge for a name/,
  },
  {
    what: 'a refusal frees a case that was taken over',
    changes: [['payment/settlement/reconciler.ts', '!one.reservation.isTakenOver && ', '']],
    found: /I3 recorded first|I4 /,
  },
  {
    what: 'a late try to claim an identifier wipes its kept answer',
    changes: [
      [
        'storage/postgres/identifiers.ts',
        'n.attempt = excluded.attempt AND n.sealed IS NULL)',
        'n.attempt = excluded.attempt)',
      ],
    ],
    found: /N\d /,
  },
  {
    what: 'a claim of an identifier is not exclusive',
    changes: [
      ['storage/postgres/identifiers.ts', 'OR (n.owner = excluded.owner', 'OR true OR (n.owner = excluded.owner'],
    ],
    found: /N\d /,
  },
  {
    what: 'an identifier is free while its outcome is open, once its process is dead',
    changes: [['storage/postgres/identifiers.ts', 'OR (n.sealed IS NULL AND ', 'OR (true AND ']],
    found: /N\d /,
  },
  {
    what: 'an identifier whose purchase was refused is never free',
    changes: [
      [
        'storage/postgres/cases.ts',
        '    DELETE FROM paygrade.identifiers n USING ended WHERE n.serial = ended.serial\n  ), freed AS (',
        '    SELECT serial FROM ended\n  ), freed AS (',
      ],
    ],
    found: /N5 |L2 /,
  },
  {
    what: 'a claim of an identifier that comes after its release is left alone',
    changes: [['storage/postgres/doubts.ts', 'await this.#parts.identifiers.freeStrays(last, live);', '']],
    found: /N5 |L2 /,
  },
  {
    what: 'a dead end frees its identifiers',
    changes: [
      [
        'storage/postgres/cases.ts',
        '    FROM ended WHERE n.serial = ended.serial\n  ), dead AS (',
        '    FROM ended WHERE false\n  ), unnamed AS (\n    DELETE FROM paygrade.identifiers n USING ended WHERE n.serial = ended.serial\n  ), dead AS (',
      ],
    ],
    found: /N6 a dead end keeps its names/,
  },
  {
    what: 'an answer is kept for half a minute',
    changes: [['payment/reservations.ts', 'export const KEPT_MS = 10 * MINUTE_MS;', 'export const KEPT_MS = 30_000;']],
    found: /N\d /,
  },
  {
    what: 'the database’s clock alone says which claims are old enough to remove',
    changes: [['storage/postgres/retention.ts', 'return this.#removable;', 'return Number.MAX_SAFE_INTEGER;']],
    found: /I1 one (answer|sale)|I4 |I17 /,
  },
];
