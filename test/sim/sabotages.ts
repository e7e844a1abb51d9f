/** Changes to the program that each break one promise about retries or resolves, and the words in which the simulator must report it. */

export interface Sabotage {
  readonly what: string;
  /** File of src, a text that occurs in it once, and its replacement. */
  readonly changes: readonly (readonly [file: string, from: string, to: string])[];
  readonly found: RegExp;
}

export const SABOTAGES: readonly Sabotage[] = [
  {
    what: 'an attempt leaves before it is on record',
    changes: [
      [
        'retry/job-runner.ts',
        'onSent: start,\n    }).finally(',
        'onSent: () => void start().catch(() => {}),\n    }).finally(',
      ],
    ],
    found: /J1 recorded first/,
  },
  {
    what: 'a try of a delivery leaves before it is on record',
    changes: [
      [
        'retry/job-runner.ts',
        'started = await this.#record(job.id, (record) => {',
        'started = await this.#ports.store.find(job.id);\n      void this.#record(job.id, (record) => {',
      ],
    ],
    found: /J1 recorded first/,
  },
  {
    what: 'a job that is held is taken again',
    changes: [
      ['storage/sqlite/retry-store.ts', 'rows.filter(({ id }) => !this.#held.has(id))', '[...rows]'],
      ['storage/sqlite/tables/retries.ts', "'UPDATE retry SET due_ms = NULL WHERE id = ?'", "'SELECT ?'"],
      // The worker begins with a job that it holds already only when its work has ended.
      ['retry/worker.ts', 'work: before?.then(run, run) ?? run()', 'work: run()'],
    ],
    found: /J\d+ /,
  },
  {
    what: 'a hold is not given up while the disk is full',
    changes: [
      [
        'storage/sqlite/retry-store.ts',
        "if (record !== undefined) await this.#ports.write({ table: RETRIES, kind: 'release', id });",
        "if (record !== undefined) this.#ports.write({ table: RETRIES, kind: 'release', id }).catch(() => {});",
      ],
    ],
    found: /J9 every job ends/,
  },
  {
    what: 'what a dead process held is not freed',
    changes: [
      ['storage/sqlite/tables/retries.ts', "'UPDATE retry SET due_ms = next_ms WHERE due_ms IS NULL'", "'SELECT 1'"],
    ],
    found: /J9 every job ends/,
  },
  {
    what: 'an attempt that a kill interrupted does not count',
    changes: [
      [
        'retry/job.ts',
        'attempts: [...job.attempts.slice(0, -1), { ...open, ...ended, nextAttemptAtMs }],',
        "attempts: end.outcome === 'interrupted' ? job.attempts.slice(0, -1) : [...job.attempts.slice(0, -1), { ...open, ...ended, nextAttemptAtMs }],",
      ],
    ],
    found: /J2 no attempt twice/,
  },
  {
    what: 'one attempt more than the policy permits is made',
    changes: [
      ['retry/job.ts', 'open.number >= job.policy.maxAttempts', 'open.number > job.policy.maxAttempts'],
      ['retry/job.ts', 'attempts.length >= policy.maxAttempts', 'attempts.length > policy.maxAttempts'],
    ],
    found: /J2 no attempt too many/,
  },
  {
    what: 'a job is made and its charge forgotten',
    changes: [
      ['storage/sqlite/retry-store.ts', 'recordsCharges ? charge : undefined', 'recordsCharges ? undefined : charge'],
    ],
    found: /C2 charges/,
  },
  {
    what: 'an idempotency key does not find its job',
    changes: [
      ['retry/retries.ts', 'const job = await store.findByKey(key);', 'const job = undefined as RetryJob | undefined;'],
    ],
    found: /J6 one job for a key/,
  },
  {
    what: 'a payment identifier hides the idempotency key beside it',
    changes: [
      ['access/x402.ts', 'if (purchaseKey !== undefined) {', 'if (purchaseKey !== undefined && id === undefined) {'],
    ],
    found: /N1 one name buys once/,
  },
  {
    what: 'a paid answer that a kill cut off is forgotten',
    changes: [['storage/memory/reservations.ts', 'this.#restoreAnswers(loaded.answers)', 'this.#restoreAnswers([])']],
    found: /C3 charged once|C1 every charge has its answer|N1 one name buys once/,
  },
  {
    what: 'a failed resolve keeps its authorization',
    changes: [['access/x402.ts', 'return this.#checkout.release(purchase);', 'return Promise.resolve();']],
    found: /I5 definite frees|R2 reservations|L1 everything ends/,
  },
  {
    what: 'a failed resolve is charged',
    changes: [
      [
        'modules/resolve/create.ts',
        "if (waited.kind === 'failed' && sold === undefined) return failedWithin(waited.failure);",
        '',
      ],
    ],
    found: /S5 a failure within the wait is free/,
  },
  {
    what: 'pending resolves are not taken up after a restart',
    changes: [['resolve/resolver.ts', '(const record of records)', '(const record of records.slice(0, 0))']],
    found: /S1 every resolve ends/,
  },
  {
    what: 'a resolve is answered before it is on record',
    changes: [
      [
        'resolve/resolver.ts',
        'await Promise.all([created, store.finish(record.id, found.status, outcome)]);',
        'void Promise.all([created, store.finish(record.id, found.status, outcome)]).catch(() => {});',
      ],
    ],
    found: /S4 nothing acknowledged is lost|S2 an end stays/,
  },
  {
    what: 'the second address of a name is not judged',
    changes: [
      [
        'adapters/outbound/outbound-client.ts',
        'judgeAddresses(target, resolved.addresses)',
        'judgeAddresses(target, resolved.addresses.slice(0, 1))',
      ],
    ],
    found: /O1 public addresses/,
  },
];
