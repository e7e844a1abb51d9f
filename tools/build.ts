/**
 * `npm run build`: rebuilds `dist`, the compiled half of the package. tsc compiles the program and its types, the Bun listener
 * as a separate project. The build also copies the one file of swagger-ui-dist that the pages serve, with its licences, so
 * that the package does not depend on all fifteen megabytes of it.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const project = new URL('../', import.meta.url);
const require = createRequire(import.meta.url);
const pathOf = (relative: string): string => fileURLToPath(new URL(relative, project));

const LIBRARY_FILES = ['swagger-ui-bundle.js', 'swagger-ui-bundle.js.LICENSE.txt', 'LICENSE', 'NOTICE'];

rmSync(pathOf('dist'), { recursive: true, force: true });
for (const config of ['tsconfig.build.json', 'src/adapters/listen/bun/tsconfig.build.json']) {
  execFileSync(pathOf('node_modules/.bin/tsc'), ['-p', config], { cwd: pathOf('.'), stdio: 'inherit' });
}
mkdirSync(pathOf('dist/vendor'));
for (const file of LIBRARY_FILES)
  copyFileSync(require.resolve(`swagger-ui-dist/${file}`), pathOf(`dist/vendor/${file}`));
chmodSync(pathOf('dist/main.js'), 0o755);
