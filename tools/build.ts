/**
 * `npm run build`: rebuilds `dist`, the generated half of the package: the bundled program, its types, and the one file of
 * swagger-ui-dist that the pages serve, with its licences, so that the package need not depend on all fifteen megabytes of it.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.ts';

const project = new URL('../', import.meta.url);
const require = createRequire(import.meta.url);
const pathOf = (relative: string): string => fileURLToPath(new URL(relative, project));

const LIBRARY_FILES = ['swagger-ui-bundle.js', 'swagger-ui-bundle.js.LICENSE.txt', 'LICENSE', 'NOTICE'];

/** Removes declarations that those of `index` neither name nor reach. */
function keepReachedTypes(folder: string): void {
  const reached = new Set([join(folder, 'index.d.ts')]);
  for (const path of reached) {
    for (const [, name = ''] of readFileSync(path, 'utf8').matchAll(/(?:from |import\()['"](\.[^'"]+)\.ts['"]/g)) {
      reached.add(join(dirname(path), `${name}.d.ts`));
    }
  }
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !reached.has(path)) rmSync(path);
  }
}

rmSync(pathOf('dist'), { recursive: true, force: true });
await bundle(pathOf('.'), pathOf('dist'));
execFileSync(pathOf('node_modules/.bin/tsc'), ['-p', 'tsconfig.build.json'], { cwd: pathOf('.'), stdio: 'inherit' });
keepReachedTypes(pathOf('dist/types'));
mkdirSync(pathOf('dist/vendor'));
for (const file of LIBRARY_FILES)
  copyFileSync(require.resolve(`swagger-ui-dist/${file}`), pathOf(`dist/vendor/${file}`));
chmodSync(pathOf('dist/main.js'), 0o755);
