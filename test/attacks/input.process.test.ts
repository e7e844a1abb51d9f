/**
 * Attacks by files that an operator imports: a page nested so deep that it takes minutes, and names that are commands to a
 * terminal (ECMA-48 control sequences: C0, DEL, and C1, which JSON leaves alone).
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { suiteFolder } from '../support/scratch-folder.ts';
import { binaryOf, type Ended, MAIN, oneRuntime, type Runtime, startProcess } from '../support/server.ts';
import { IS_WHOLE } from '../support/whole.ts';

const folder = suiteFolder();

let fileCount = 0;
function file(name: string, content: string | Buffer): string {
  const path = join(folder, `${fileCount++}-${name}`);
  writeFileSync(path, content);
  return path;
}

/** undefined: it had not ended in time. */
async function endedWithin(limitMs: number, runtime: Runtime, words: readonly string[]): Promise<Ended | undefined> {
  const { child, ended } = startProcess(binaryOf(runtime), [MAIN, ...words]);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill('SIGKILL');
  }, limitMs);
  const end = await ended;
  clearTimeout(timer);
  return isLate ? undefined : end;
}

const POSTING = {
  '@context': 'https://schema.org',
  '@type': 'JobPosting',
  title: 'Cook',
  url: 'https://acme.example/1',
  identifier: { value: '1' },
  datePosted: '2026-08-01',
  hiringOrganization: { name: 'Acme', sameAs: 'https://acme.example' },
  description: 'Cook for us.',
};

/** Elements inside each other; 70 s on the code of before. */
const DEPTH = 400_000;
const nestedPage = (element: string): string =>
  `<!doctype html><html><head><script type="application/ld+json">${JSON.stringify(POSTING)}</script></head><body>` +
  `${`<${element}>`.repeat(DEPTH)}text${`</${element}>`.repeat(DEPTH)}</body></html>`;
/** It takes a second; on a machine that others keep busy, some more. */
const NESTED_MS_MAX = 20_000;

const CONTROLS = '\u001b]0;owned\u0007\u001b[2J\u009b2J\u007f\r\b';
/** Everything that a terminal obeys; lines and tabs of ours may stay. */
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

const greenhouse = (changes: object): string =>
  JSON.stringify([
    {
      id: 1,
      title: 'Cook',
      updated_at: '',
      absolute_url: 'https://boards.greenhouse.io/acme/jobs/1',
      company_slug: 'acme',
      ...changes,
    },
  ]);

/** One regular file in a tar archive (POSIX ustar), its name as it stands. */
function tarred(name: string, content: string): Buffer {
  const head = Buffer.alloc(512);
  head.write(name, 0, 100, 'utf8');
  head.write('0000644\0', 100);
  head.write(`${Buffer.byteLength(content).toString(8).padStart(11, '0')}\0`, 124);
  head.write('00000000000\0', 136);
  head.write('        0', 148);
  head.write('ustar\0', 257);
  head.write('00', 263);
  head.write(
    `${head
      .reduce((sum, byte) => sum + byte, 0)
      .toString(8)
      .padStart(6, '0')}\0 `,
    148,
  );
  const body = Buffer.alloc(Math.ceil(Buffer.byteLength(content) / 512) * 512);
  body.write(content);
  return Buffer.concat([head, body, Buffer.alloc(1024)]);
}

const INJECTIONS: readonly (readonly [string, string, string | Buffer])[] = [
  ['field names of JSON', 'fields.json', JSON.stringify([{ [`${CONTROLS}evil`]: 1 }])],
  ['field names of JSON Lines', 'fields.jsonl', `${JSON.stringify({ [`${CONTROLS}evil`]: 1 })}\n`.repeat(3)],
  ['names of columns', 'fields.csv', `"${CONTROLS}evil",other\n1,2\n`],
  ['the name of a board', 'board.json', greenhouse({ company_slug: `acme${CONTROLS}` })],
  ['an unreadable member of an archive', 'a.tar', tarred(`a/${CONTROLS}.json`, 'not JSON')],
  ['a member of an unknown shape', 'b.tar', tarred(`a/${CONTROLS}.json`, '{"nothing":1}')],
  ['a member that is imported', 'c.tar', tarred(`a/${CONTROLS}.json`, greenhouse({}))],
  [
    'values of a refused line',
    'd.jsonl',
    `${JSON.stringify({
      id: CONTROLS,
      source_url: CONTROLS,
      title: '',
      first_observed_at: CONTROLS,
      last_observed_at: CONTROLS,
    })}\n`,
  ],
];

const ELEMENTS = IS_WHOLE ? ['div', 'p', 'b', 'x-y'] : ['div', 'b'];

describe.each(oneRuntime('node'))('import under %s', (runtime) => {
  it.each(ELEMENTS)(`ends soon on a page of ${DEPTH} nested <%s>`, async (element) => {
    const page = file('nested.html', nestedPage(element));
    const end = await endedWithin(NESTED_MS_MAX, runtime, ['import', '--catalogue', join(folder, `${page}.c`), page]);
    expect(end, `it had not ended after ${NESTED_MS_MAX} ms`).toMatchObject({ exitCode: 0 });
  });

  // Each way in once: a document, a table, an archive.
  it.each(IS_WHOLE ? INJECTIONS : INJECTIONS.filter((_, i) => i % 2 === 0 && i > 0))(
    'prints %s without the characters that a terminal obeys',
    async (_, name, content) => {
      const path = file(name, content);
      const catalogue = `${path}.c`;
      for (const words of [
        ['import', '--catalogue', catalogue, path],
        ['import', '--catalogue', catalogue, '--json', path],
        ['history', '--catalogue', catalogue],
        ['snapshot', 'build', '--out', `${path}.snapshot`, path],
      ]) {
        const end = await endedWithin(20_000, runtime, words);
        const printed = `${end?.stdout}${end?.stderr}`;
        expect(printed, words.join(' ')).toMatch(/\S/);
        const found = OBEYED.exec(printed);
        const around = printed.slice(Math.max(0, (found?.index ?? 0) - 80), (found?.index ?? 0) + 40);
        expect(found === null ? '' : `${words.slice(0, 2).join(' ')}: ${JSON.stringify(around)}`).toBe('');
      }
    },
  );
});
