/**
 * docs/reliability.md, kept true: every case of the catalogue stands in it once, under its letter, and names tests that are
 * there or says why there is none.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const CASE_COUNT = 291;
const textOf = (path: string): string => readFileSync(join(PROJECT, path), 'utf8');

interface Row {
  readonly number: number;
  readonly fault: string;
  /** The whole third column. */
  readonly cell: string;
  readonly tests: readonly { readonly file: string; readonly title: string }[];
  /** What the column says besides its tests. */
  readonly note: string;
}

const NAMED = /`(test\/[^`]+)` “([^”]+)”/g;

function rowOf(line: string): Row | undefined {
  const [, number = '', fault = '', cell = ''] = /^\| (\d+) \| (.+?) \| (.*) \|$/.exec(line) ?? [];
  if (number === '') return undefined;
  const tests = [...cell.matchAll(NAMED)].map(([, file = '', title = '']) => ({ file, title }));
  const note = cell.replace(NAMED, '').replaceAll('<br>', ' ').trim();
  return { number: Number(number), fault, cell, tests, note };
}

const PAGE = textOf('docs/reliability.md');
const rows = PAGE.split('\n').flatMap((line) => rowOf(line) ?? []);

/** A test file with the tables that it takes its cases from: the files beside it and of test/support that it imports. */
function sourceOf(file: string): string {
  const text = textOf(file);
  const imported = [...text.matchAll(/from '(\.[^']+\.ts)'/g)].map(([, path = '']) => join(dirname(file), path));
  const tables = imported.filter((path) => path.startsWith('test/') && existsSync(join(PROJECT, path)));
  return [text, ...tables.map(textOf)].join('\n');
}

/** As a table of tests writes a title whose case number is one of its columns. */
const PLACEHOLDERS = ['%i', '%s', '%4$s'] as const;

function isThere({ file, title }: Row['tests'][0], number: number): boolean {
  if (!existsSync(join(PROJECT, file))) return false;
  const own = textOf(file);
  const isQuoted = (text: string): boolean => ["'", '"', '`'].some((quote) => own.includes(quote + text + quote));
  if (isQuoted(title)) return true;
  const isTabled = PLACEHOLDERS.some((one) => isQuoted(title.replace(`reliability ${number}`, `reliability ${one}`)));
  return isTabled && new RegExp(`\\b${number}\\b`).test(sourceOf(file));
}

describe('docs/reliability.md', () => {
  it(`has each of the ${CASE_COUNT} cases once, in order`, () => {
    expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: CASE_COUNT }, (_, i) => i + 1));
  });

  it('sorts them under the letters of the catalogue', () => {
    const lettersIn = (text: string): string[] => {
      let letter = '';
      return text.split('\n').flatMap((line) => {
        letter = /^## ([A-N])\. /.exec(line)?.[1] ?? (line.startsWith('## ') ? '' : letter);
        const number = /^\| (\d+) \|/.exec(line)?.[1];
        return number === undefined || letter === '' ? [] : [`${letter} ${number}`];
      });
    };
    expect(lettersIn(PAGE)).toEqual(lettersIn(textOf('docs/spec/reliability.md')));
  });

  it('names tests that are there, by file and title', () => {
    const missing = rows.flatMap(({ number, tests }) =>
      tests.filter((test) => !isThere(test, number)).map(({ file, title }) => `${number}: ${file} “${title}”`),
    );
    expect(missing).toEqual([]);
  });

  it('says in a sentence why a case has no test', () => {
    const silent = rows.filter(({ tests, note }) => tests.length === 0 && !/^[A-Z`].{15,}\.$/.test(note));
    expect(silent.map(({ number }) => number)).toEqual([]);
    const unread = rows.filter(({ tests, cell }) => tests.length < cell.split('`test/').length - 1 && !/``/.test(cell));
    expect(unread.map(({ number }) => number)).toEqual([]);
  });

  it('says of every fault what it is', () => {
    expect(rows.filter(({ fault }) => fault.trim().length < 4).map(({ number }) => number)).toEqual([]);
  });
});
