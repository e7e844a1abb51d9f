import { mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { NewFile } from '../../src/cli/new-file.ts';
import { testFolder } from '../support/scratch-folder.ts';

let folder: string;
beforeEach(() => {
  folder = testFolder();
});

const at = (name: string) => join(folder, name);
const LONG = new Uint8Array(100_000).fill(0x61);

describe('a new file', () => {
  it('is there, whole, once it is committed', () => {
    writeFileSync(at('out'), 'before');
    const file = new NewFile(at('out'));
    file.write(Buffer.from('b'));
    file.write(LONG);
    expect(readFileSync(at('out'), 'utf8')).toBe('before');
    file.commit();
    file.discard();
    expect(readFileSync(at('out'), 'utf8')).toBe(`b${'a'.repeat(100_000)}`);
    expect(readdirSync(folder)).toEqual(['out']);
  });

  it('leaves nothing behind when it is given up, or cannot take its place', () => {
    const given = new NewFile(at('given'));
    given.write(LONG);
    given.discard();
    const misplaced = new NewFile(at('folder'));
    mkdirSync(at('folder'));
    expect(() => misplaced.commit()).toThrow(`${at('folder')} cannot be written (EISDIR)`);
    misplaced.discard();
    expect(readdirSync(folder)).toEqual(['folder']);
  });

  it('removes what killed commands left of it more than a day ago, and nothing else', () => {
    const leftover = `out.${crypto.randomUUID()}.tmp`;
    const others = [`out.${crypto.randomUUID()}.tmp`, `other.${crypto.randomUUID()}.tmp`, 'out.tmp'];
    for (const name of [leftover, ...others]) writeFileSync(at(name), '');
    const nowSeconds = Date.now() / 1000;
    for (const name of [leftover, ...others.slice(1)]) utimesSync(at(name), nowSeconds, nowSeconds - 86_460);
    utimesSync(at(others[0] ?? ''), nowSeconds, nowSeconds - 86_340);
    new NewFile(at('out')).discard();
    expect(readdirSync(folder).sort()).toEqual([...others].sort());
  });

  it('is refused at once where none can be made', () => {
    expect(() => new NewFile(at('nowhere/out'))).toThrow(`${at('nowhere/out')} cannot be written (ENOENT)`);
  });

  it('is refused in one line where nobody can tell what is in its place', () => {
    symlinkSync('circle', at('circle'));
    expect(() => new NewFile(at('circle'))).toThrow(`${at('circle')} cannot be written (ELOOP)`);
  });

  it('is refused at once in the place of what is no file', () => {
    mkdirSync(at('folder'));
    symlinkSync('/dev/null', at('device'));
    for (const path of [at('folder'), at('device')])
      expect(() => new NewFile(path)).toThrow(`${path} cannot be written: it is not a file`);
    expect(readdirSync(folder)).toEqual(['device', 'folder']);
  });
});
