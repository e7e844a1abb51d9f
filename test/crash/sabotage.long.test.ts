/**
 * The crash harness finds what it looks for: it is run against copies of the program that each break one promise, and must
 * name the promise. What a harness has never been seen to find it may not be able to find.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { binaryOf, PROJECT, processEnvironment } from '../support/server.ts';

interface Sabotage {
  readonly what: string;
  readonly settlement: 'local' | 'facilitator';
  /** Where the kills are aimed, so that few cycles do. */
  readonly aim: string;
  /** File of src, the text in it, and what stands there instead. */
  readonly changes: readonly (readonly [file: string, from: string, to: string])[];
  readonly found: RegExp;
}

const SABOTAGES: readonly Sabotage[] = [
  {
    what: 'settlement is asked for and no intent is ever recorded',
    settlement: 'facilitator',
    aim: 'settle-moved',
    changes: [
      [
        'adapters/sqlite/payments.ts',
        "return this.#journal.write({\n      kind: 'intent',",
        "void ({\n      kind: 'intent',",
      ],
      ['adapters/sqlite/payments.ts', 'recordIntent(serial', 'async recordIntent(serial'],
      ['adapters/sqlite/database.ts', 'this.#run(sql, ...values) !== 1', 'this.#run(sql, ...values) > 1'],
    ],
    found: /is not known any more/,
  },
  {
    what: 'an answer leaves before its outcome is on disk',
    settlement: 'facilitator',
    aim: 'paid',
    changes: [['gates/x402.ts', 'await reservations.recordSettled(', 'void reservations.recordSettled(']],
    found: /was settled and is unknown|settled again after it was on record/,
  },
  {
    what: 'an authorization under way is given to a second request',
    settlement: 'local',
    aim: 'any moment',
    changes: [
      [
        'payment/reservations.ts',
        "if (present !== undefined) return { kind: 'taken'",
        "if (present?.state === 'settled') return { kind: 'taken'",
      ],
      [
        'gates/x402.ts',
        'if (standing !== undefined) return alreadyUsed(standing, order.payer);\n    const readiness',
        "if (standing?.kind === 'settled') return alreadyUsed(standing, order.payer);\n    const readiness",
      ],
    ],
    found: /was answered 2 times|an answer of no use|has no answer|is not accepted|another request with it is 20[01]/,
  },
  {
    what: 'a webhook is acknowledged before it is on disk',
    settlement: 'local',
    aim: 'webhook-acknowledged',
    changes: [['callback/inbox.ts', 'await store.append(', 'void store.append(']],
    found: /has lost webhook|showed evt_|has no such event/,
  },
  {
    what: 'a callback is handed over before it is on disk',
    settlement: 'local',
    aim: 'created',
    changes: [['callback/inbox.ts', 'await store.create(', 'void store.create(']],
    found: /was paid for and is 404|is 404/,
  },
  {
    what: 'a deletion is acknowledged before it is on disk',
    settlement: 'local',
    aim: 'deletion-acknowledged',
    changes: [['callback/inbox.ts', 'await this.#ports.store.delete(id)', 'void this.#ports.store.delete(id)']],
    found: /was deleted and is 200/,
  },
];

const folder = mkdtempSync(join(tmpdir(), 'paygrade-sabotage-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A copy of the program with the changes; its entry. */
function sabotaged(name: string, changes: Sabotage['changes']): string {
  const copy = join(folder, name);
  for (const part of ['src', 'data', 'package.json'])
    cpSync(join(PROJECT, part), join(copy, part), { recursive: true });
  symlinkSync(join(PROJECT, 'node_modules'), join(copy, 'node_modules'));
  for (const [file, from, to] of changes) {
    const path = join(copy, 'src', file);
    const text = readFileSync(path, 'utf8');
    expect(text.split(from).length, `"${from}" stands once in ${file}`).toBe(2);
    writeFileSync(path, text.replace(from, to));
  }
  return join(copy, 'src', 'main.ts');
}

describe('the crash harness', () => {
  it.each(SABOTAGES.map((one, index) => [one.what, index, one] as const))(
    'finds it when %s',
    (_, index, { changes, settlement, aim, found }) => {
      const entry = sabotaged(String(index), changes);
      const words = [
        '--cycles',
        '30',
        '--runtime',
        'bun',
        '--settlement',
        settlement,
        '--seed',
        String(index),
        '--aim',
        aim,
        '--json',
      ];
      const { status, stdout, stderr } = spawnSync(
        binaryOf('node'),
        [join(PROJECT, 'test', 'crash', 'main.ts'), ...words, '--entry', entry],
        { env: processEnvironment({}), encoding: 'utf8', timeout: 290_000 },
      );
      expect(stderr).toMatch(found);
      expect(status).toBe(1);
      const { seed, stateDir } = JSON.parse(stdout) as { seed: number; stateDir: string };
      expect(seed).toBe(index);
      rmSync(join(stateDir, '..', '..'), { recursive: true });
      console.info(stderr.split('\n')[0]);
    },
    300_000,
  );
});
