/** Changes to the program that each break one promise, and the words in which the crash harness must report it. */

export interface Sabotage {
  readonly what: string;
  readonly settlement: 'local' | 'facilitator';
  /** Where the kills are aimed, so that few cycles are enough. */
  readonly aim: string;
  /** File of src, a text that occurs in it once, and its replacement. */
  readonly changes: readonly (readonly [file: string, from: string, to: string])[];
  readonly found: RegExp;
}

export const SABOTAGES: readonly Sabotage[] = [
  {
    what: 'settlement is asked for and no intent is ever recorded',
    settlement: 'facilitator',
    aim: 'settle-moved',
    changes: [
      [
        'storage/sqlite/reservation-journal.ts',
        "return this.#write({\n      table: PAYMENTS,\n      kind: 'intent',",
        "void ({\n      table: PAYMENTS,\n      kind: 'intent',",
      ],
      ['storage/sqlite/reservation-journal.ts', 'recordIntent(serial', 'async recordIntent(serial'],
      ['storage/sqlite/connection.ts', 'this.run(sql, ...values) !== 1', 'this.run(sql, ...values) > 1'],
    ],
    found: /is not known any more|asks for the answer of the authorization/,
  },
  {
    what: 'an answer leaves before its outcome is on disk',
    settlement: 'facilitator',
    aim: 'paid',
    changes: [['payment/settling.ts', 'await reservations.recordSettled(', 'void reservations.recordSettled(']],
    found:
      /was settled and is unknown|settled again after it was on record|is settled and not in the books|asks for the answer of/,
  },
  {
    what: 'an authorization under way is given to a second request',
    settlement: 'local',
    aim: 'any moment',
    changes: [
      [
        'storage/memory/reservations.ts',
        "if (status !== undefined) return { kind: 'taken', status };",
        "if (status?.kind === 'settled') return { kind: 'taken', status };",
      ],
    ],
    // A kill while both are under way leaves two intents, which the next start refuses.
    found:
      /was answered 2 times|an answer of no use|has no answer|is not accepted|another request with it is 20[01]|two records of one authorization/,
  },
  {
    what: 'a webhook is acknowledged before it is on disk',
    settlement: 'local',
    aim: 'webhook-acknowledged',
    changes: [['callback/inbox/storing.ts', 'chain(store.append(', 'chain(void store.append(']],
    found: /has lost webhook|showed evt_|has no such event/,
  },
  {
    what: 'a callback is handed over before it is on disk',
    settlement: 'local',
    aim: 'created',
    changes: [['callback/inbox/inbox.ts', '      await stored;\n', '      void stored;\n']],
    found: /was paid for and is 404|is 404/,
  },
  {
    what: 'a deletion is acknowledged before it is on disk',
    settlement: 'local',
    aim: 'deletion-acknowledged',
    changes: [
      [
        'callback/inbox/inbox.ts',
        'await this.#ports.store.delete(callback.id)',
        'void this.#ports.store.delete(callback.id)',
      ],
    ],
    found: /was deleted and is 200/,
  },
  {
    what: 'a sale is not written with its settlement',
    settlement: 'local',
    aim: 'paid',
    changes: [
      [
        'storage/sqlite/tables/payments.ts',
        '  if (sale !== undefined) insertSale(connection, sale, end.key, sums);\n',
        '',
      ],
    ],
    found: /is settled and not in the books/,
  },
  {
    what: 'a sale is delivered at the hand-over, without a look at the connection',
    settlement: 'facilitator',
    aim: 'cut, any moment',
    changes: [
      [
        'app/surface.ts',
        'this.#parts.deliveries.watch(request, outcome.body, outcome.delivered);',
        'outcome.delivered();',
      ],
    ],
    found: /as delivered what (its client had cut before|no client got)/,
  },
  {
    what: 'no delivery is ever recorded',
    settlement: 'local',
    aim: 'deletion-acknowledged',
    changes: [['storage/gathered-deliveries.ts', '    this.#serials.push(serial);\n', '']],
    found: /as undelivered what a client got/,
  },
  {
    what: 'an answer leaves before its charge is on disk',
    settlement: 'local',
    aim: 'charged',
    changes: [
      [
        'storage/memory/accounts.ts',
        'return recording === undefined ? charged : this.#recorded(recording, () => balance.giveBack(taken), charged);',
        'void recording?.catch(() => {}); return charged;',
      ],
    ],
    found: /a charge was answered and is lost/,
  },
  {
    what: 'an identifier reserves again after a restart',
    settlement: 'local',
    aim: 'paid',
    changes: [['storage/memory/reservations.ts', 'this.#restoreAnswers(loaded.answers)', 'this.#restoreAnswers([])']],
    found: /is charged twice|uses the identifier of/,
  },
  {
    what: 'an answer is kept without its settlement, so that a kill after it loses it',
    settlement: 'local',
    aim: 'step: outcome recorded',
    changes: [
      [
        'storage/sqlite/tables/payments.ts',
        "for (const claim of claims) keepAnswer(connection, serial, claim, keptUntilMs, sale?.transaction ?? '');",
        'if (claims.length > 0) dropAnswers(connection, serial);',
      ],
    ],
    found: /is charged twice|uses the identifier of|asks for the answer of/,
  },
];
