/** Commands as processes that read what strangers named: nothing of it may act on the terminal. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packTar } from 'modern-tar';
import { describe, expect, it } from 'vitest';
import { jobLine } from '../support/catalogue-files.ts';
import { suiteFolder } from '../support/scratch-folder.ts';
import { binaryOf, type Ended, MAIN, oneRuntime, type Runtime, startProcess } from '../support/server.ts';

const folder = suiteFolder();

/** Sets the title of a terminal, moves its cursor, fakes a line, and turns the reading direction. */
const EVIL = '\u001b]0;owned\u0007\u009b2J\r\nfaked: all is well\u202e\u2028';
/** What may stand in no output: all but line feeds of C0, DEL, C1, and what reorders or breaks lines. */
const ACTING = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

const job = (id: string, fields: Readonly<Record<string, unknown>> = {}) => jobLine({ id, ...fields });

async function files(): Promise<string[]> {
  const write = (name: string, content: string | Uint8Array): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const member = (name: string, body: string) => ({ header: { name, size: Buffer.byteLength(body) }, body });
  const tar = await packTar([
    member(`${EVIL}.json`, JSON.stringify([{ [EVIL]: 1, [`${EVIL}2`]: 2 }])),
    member(`2${EVIL}.json`, JSON.stringify([{ id: EVIL, title: EVIL, company: null, source_url: EVIL }])),
    member(`3${EVIL}.json`, JSON.stringify([job(EVIL, { title: `Cook ${EVIL}`, company: EVIL })])),
    member(`4${EVIL}.csv`, `"${EVIL}",b\n1,2\n`),
    member(`5${EVIL}`, EVIL),
    member(
      `6${EVIL}.json`,
      JSON.stringify([
        { id: 1, title: 'Cook', absolute_url: 'https://boards.greenhouse.io/a/jobs/1', company_slug: EVIL },
      ]),
    ),
  ]);
  return [
    write('hostile.tar', tar),
    write(`plain${'\u001b[2J'}.json`, JSON.stringify({ [EVIL]: EVIL })),
    join(folder, `missing${EVIL}`),
  ];
}

function expectPrintable({ stdout, stderr }: Ended): void {
  for (const text of [stdout, stderr]) {
    expect(text).not.toMatch(ACTING);
    expect(text).not.toMatch(/^faked/m);
  }
}

describe.each(oneRuntime('bun'))('names that others chose, under %s', (runtime: Runtime) => {
  const run = (...words: string[]): Promise<Ended> => startProcess(binaryOf(runtime), [MAIN, ...words]).ended;

  it('reach no terminal as control characters', { timeout: 120_000 }, async () => {
    const inputs = await files();
    const catalogue = join(folder, `${runtime}-catalogue`);
    const out = join(folder, `${runtime}.snapshot`);
    const rejects = join(folder, `${runtime}.rejects`);
    const imported = await run('import', '--catalogue', catalogue, ...inputs);
    expectPrintable(imported);
    expect(imported.stderr).toContain(
      '\\u001b]0;owned\\u0007\\u009b2J\\u000d\\u000afaked: all is well\\u202e\\u2028.json',
    );
    const again = await run('import', '--json', '--catalogue', catalogue, ...inputs);
    expectPrintable(again);
    expect(JSON.parse(again.stdout).files).toHaveLength(3);
    for (const words of [
      ['snapshot', 'build', '--format', 'auto', '--out', out, '--rejects', rejects, ...inputs.slice(0, 2)],
      ['snapshot', 'build', '--out', out, ...inputs.slice(0, 1)],
      ['history', '--catalogue', catalogue],
      ['history', '--catalogue', catalogue, '--feeds'],
      ['history', '--catalogue', catalogue, '--json'],
      ['snapshot', 'inspect', inputs[1]!],
      ['snapshot', 'inspect', inputs[2]!],
      ['snapshot', 'inspect', out],
      ['snapshot', 'export', out],
      ['doctor', '--snapshot', inputs[2]!],
      [`--${EVIL}`],
      [EVIL],
    ]) {
      const ended = await run(...words);
      expectPrintable(ended);
      expect(ended.stdout + ended.stderr).not.toBe('');
    }
  });
});
