/**
 * Kills at exact steps of a purchase: a copy of the program in which each step asks whether the process shall kill itself there
 * (SIGKILL, so nothing of it runs any longer). The harness arms one step at a time in a file, once the load begins.
 */
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PROJECT } from '../support/server-paths.ts';

/** Variable with the path of the file that names the armed step and how many times it is passed before the kill. */
export const ARMED_FILE_VARIABLE = 'PAYGRADE_CRASH_ARMED';

/** A place of the program: file of src, a text that occurs in it once, and its replacement, which names steps. */
export type Place = readonly [file: string, from: string, to: string];

/** In the order in which a purchase under an identifier passes them. */
export const STEPS = [
  'step: before the intent',
  'step: intent recorded',
  'step: money moved',
  'step: outcome in its transaction',
  'step: outcome committed',
  'step: outcome recorded',
  'step: callback not created',
  'step: callback in memory',
  'step: callback recorded',
  'step: kept answer in its transaction',
  'step: kept answer replaced',
  'step: answer ready',
  'step: answer handed over',
  'step: delivery noted',
] as const;
export type StepName = (typeof STEPS)[number];

/** Steps that a load passes rarely, since only a callback under an identifier has them. */
export const RARE_STEPS: ReadonlySet<string> = new Set<StepName>([
  'step: callback not created',
  'step: callback in memory',
  'step: callback recorded',
  'step: kept answer in its transaction',
  'step: kept answer replaced',
]);

const at = (step: StepName): string => `crashStep('${step}');`;

export const PLACES: readonly Place[] = [
  [
    'payment/settling.ts',
    '      await reservations.recordIntent(reservation, order, sale, sealed);\n',
    `      if (names.length > 0) ${at('step: before the intent')}
      await reservations.recordIntent(reservation, order, sale, sealed);
      if (names.length > 0) ${at('step: intent recorded')}\n`,
  ],
  [
    'payment/settling.ts',
    '    const outcome = await this.#moveMoney(order);\n',
    `    const outcome = await this.#moveMoney(order);
    if (names.length > 0 && outcome.kind === 'settled') ${at('step: money moved')}\n`,
  ],
  [
    'payment/settling.ts',
    '      recorded = await this.#record(order, reservation, client, outcome);\n',
    `      recorded = await this.#record(order, reservation, client, outcome);
      if (names.length > 0 && recorded.kind === 'settled') ${at('step: outcome recorded')}\n`,
  ],
  [
    'storage/sqlite/tables/payments.ts',
    '  if (sale !== undefined) insertSale(connection, sale, end.key, sums);\n',
    `  if (sale !== undefined) insertSale(connection, sale, end.key, sums);
  if (claims.length > 0) ${at('step: outcome in its transaction')}\n`,
  ],
  [
    'storage/sqlite/writer.ts',
    '      const result = database.apply(request.operations);\n',
    `      const result = database.apply(request.operations);
      if (request.operations.some((one) => one.kind === 'end' && one.claims.length > 0)) ${at('step: outcome committed')}\n`,
  ],
  [
    'http/execute.ts',
    '  return chain(answer.create(), (created) => {\n',
    `  const isNamed = admissions.some((one) => one.created !== undefined);
  if (isNamed) ${at('step: callback not created')}
  return chain(answer.create(), (created) => {
    if (isNamed) ${at('step: callback recorded')}\n`,
  ],
  ['http/execute.ts', '  return body;\n}\n', `  ${at('step: kept answer replaced')}\n  return body;\n}\n`],
  [
    'callback/inbox/inbox.ts',
    '    lifetimes.add(callback);\n',
    `    lifetimes.add(callback);\n    ${at('step: callback in memory')}\n`,
  ],
  [
    'storage/sqlite/tables/answers.ts',
    "        connection.run('UPDATE answer SET sealed = ? WHERE serial = ? AND digest = ?', sealed, serial, bytesOf(digest));\n",
    `        connection.run('UPDATE answer SET sealed = ? WHERE serial = ? AND digest = ?', sealed, serial, bytesOf(digest));
        ${at('step: kept answer in its transaction')}\n`,
  ],
  [
    'app/surface.ts',
    '      this.#parts.deliveries.watch(request, outcome.body, outcome.delivered);\n',
    `      this.#parts.deliveries.watch(request, outcome.body, outcome.delivered);
        ${at('step: answer ready')}
        setImmediate(() => { ${at('step: answer handed over')} });\n`,
  ],
  [
    'storage/gathered-deliveries.ts',
    '      if (count === 0) return;\n',
    `      if (count === 0) return;\n      ${at('step: delivery noted')}\n`,
  ],
];

const CRASH_STEP = `import { readFileSync } from 'node:fs';
let passed = 0;
export function crashStep(step) {
  let armed;
  try {
    armed = JSON.parse(readFileSync(process.env.${ARMED_FILE_VARIABLE}, 'utf8'));
  } catch {
    return;
  }
  if (armed.step === step && ++passed >= armed.times) process.kill(process.pid, 'SIGKILL');
}
`;

/** Copies a program with what it reads. @param root of the program that is copied @returns the copy's entry */
export function copyProgram(root: string, copy: string, changes: readonly Place[]): string {
  for (const part of ['src', 'data', 'pages', 'package.json'])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(PROJECT, 'node_modules'), join(copy, 'node_modules'));
  for (const [file, from, to] of changes) {
    const path = join(copy, 'src', file);
    const text = readFileSync(path, 'utf8');
    if (text.split(from).length !== 2) throw new Error(`"${from}" does not stand once in ${file}`);
    writeFileSync(
      path,
      text.replace(from, () => to),
    );
  }
  return join(copy, 'src', 'main.ts');
}

/** A copy of the program of this entry that passes the steps. @returns its entry */
export function instrumented(entry: string, folder: string): string {
  const copied = copyProgram(dirname(dirname(entry)), folder, PLACES);
  const helper = join(folder, 'src', 'crash-step.mjs');
  writeFileSync(helper, CRASH_STEP);
  for (const file of new Set(PLACES.map(([name]) => join(folder, 'src', name)))) {
    writeFileSync(file, `${readFileSync(file, 'utf8')}\nimport { crashStep } from ${JSON.stringify(helper)};\n`);
  }
  return copied;
}

/** Arms a step of a running program. */
export function arm(armedFile: string, step: StepName, times: number): void {
  writeFileSync(armedFile, JSON.stringify({ step, times }));
}
