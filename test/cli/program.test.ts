/** The program's list of commands: it agrees with the commands, and `serve` loads none of the others. */
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { CommandGroup, CommandStub } from '../../src/cli/command.ts';
import { PROGRAM } from '../../src/cli/program.ts';
import { run } from './captured-io.ts';

const SRC = fileURLToPath(new URL('../../src', import.meta.url));

function* stubsIn(group: CommandGroup, before = ''): Generator<readonly [string, CommandStub]> {
  for (const [name, item] of Object.entries(group.commands)) {
    if ('commands' in item) {
      if (item.itself) yield [before + name, item.itself];
      yield* stubsIn(item, `${before}${name} `);
    } else yield [before + name, item];
  }
}

const STUBS = [...stubsIn(PROGRAM)];

describe('the list of commands', () => {
  it('has every command', () => {
    expect(STUBS.map(([path]) => path)).toEqual([
      'serve',
      'up',
      'reload',
      'import',
      'watch',
      'history',
      'boards',
      'boards add',
      'boards list',
      'boards remove',
      'boards check',
      'boards import',
      'companies',
      'companies set',
      'companies import',
      'snapshot build',
      'snapshot inspect',
      'snapshot export',
      'snapshot synth',
      'callback new',
      'callback wait',
      'callback listen',
      'callback events',
      'callback rm',
      'callback verify',
      'retry create',
      'retry status',
      'retry wait',
      'retry cancel',
      'resolve',
      'sales',
      'keys create',
      'keys list',
      'keys revoke',
      'credits grant',
      'credits show',
      'state copy',
      'demo',
      'load',
      'fleet',
      'doctor',
    ]);
  });

  it.each(STUBS)('gives the help of %s', async (path, { summary }) => {
    const { exitCode, stdout, stderr } = await run([...path.split(' '), '--help']);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`paygrade ${path} `);
    expect(Math.max(...stdout.split('\n').map((line) => [...line].length))).toBeLessThanOrEqual(100);
    expect(stdout.replace(/\n(?!\n)/g, ' ')).toContain(`${summary}.`);
  });
});

/** Files of ours, and packages, that a module loads when it is imported; types and `import()` aside. */
function loadedBy(entries: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const visit = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    if (!file.endsWith('.ts')) return;
    const text = readFileSync(join(SRC, file), 'utf8');
    for (const [, path] of text.matchAll(/^(?:import|export) (?!type )(?:[^;']*?from )?'([^']+)';/gm)) {
      const isOurs = (path as string).startsWith('.');
      visit(isOurs ? relative(SRC, resolve(SRC, dirname(file), path as string)) : (path as string));
    }
  };
  for (const entry of entries) visit(entry);
  return seen;
}

describe('loading', () => {
  it('follows imports', () => {
    const loaded = [...loadedBy(['cli/snapshot/synth.ts', 'cli/import.ts'])];
    expect(loaded).toEqual(
      expect.arrayContaining(['ingest/synth/synth.ts', 'cli/intake.ts', 'htmlparser2', 'node:fs']),
    );
  });

  it('of the program loads no command', () => {
    const loaded = [...loadedBy(['main.ts', 'cli/program.ts'])].filter((file) => file.startsWith('cli/'));
    expect(loaded.sort()).toEqual(['cli/command.ts', 'cli/help-text.ts', 'cli/nearest.ts', 'cli/program.ts']);
  });

  it('of serve loads no other command, and no generator or parser of job postings', () => {
    const others =
      /^(?:load\/|cli\/(?!command|help-text|nearest|serve|settings|server-log|operator-lines|stop-signal)|storage\/history\/|ingest\/|htmlparser2$)/;
    expect([...loadedBy(['main.ts', 'cli/program.ts', 'cli/serve.ts'])].filter((file) => others.test(file))).toEqual([
      'cli/program.ts',
    ]);
  });
});
