/**
 * `npm run package:check`: checks the package as users receive it. Packs it, runs publint and arethetypeswrong,
 * installs the tarball in an empty folder, compiles against its types, starts its command under Node, Bun and Deno, and
 * mounts its handler in a server of each and in Hono. Prints a line per step and exits with 1 when one fails.
 *
 * PAYGRADE_NODE, BUN and DENO name other binaries; without DENO npm installs the pinned version in a temporary folder.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buy } from '../test/support/wallet.ts';

const run = promisify(execFile);

const PROJECT = fileURLToPath(new URL('../', import.meta.url));
const manifest = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as {
  readonly devDependencies: Readonly<Record<string, string>>;
};
const DENO_VERSION = '2.9.6';
const START_TIMEOUT_MS = 30_000;
const STOP_TIMEOUT_MS = 15_000;

const folder = mkdtempSync(join(tmpdir(), 'paygrade-package-'));
const consumer = join(folder, 'consumer');
const binary = (name: string): string => join(PROJECT, 'node_modules', '.bin', name);
const NODE = process.env.PAYGRADE_NODE || process.execPath;
const BUN = process.env.BUN || binary('bun');
let DENO = process.env.DENO || '';

let failureCount = 0;
async function step(name: string, act: () => Promise<string | undefined>): Promise<void> {
  const startMs = performance.now();
  let line: string;
  try {
    const found = await act();
    line = `ok      ${name}${found === undefined ? '' : `: ${found}`}`;
  } catch (failure) {
    failureCount++;
    const { stdout, stderr, message } = failure as { stdout?: string; stderr?: string; message?: string };
    line = `FAILED  ${name}\n${[message, stdout, stderr].filter(Boolean).join('\n')}`;
  }
  console.log(`${line} (${((performance.now() - startMs) / 1000).toFixed(1)} s)`);
}

function must(isTrue: boolean, otherwise: string): asserts isTrue {
  if (!isTrue) throw new Error(otherwise);
}

const npm = (args: readonly string[], cwd: string): Promise<{ stdout: string }> => run('npm', args, { cwd });

function bytesUnder(path: string): number {
  let bytes = 0;
  for (const entry of readdirSync(path, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).size;
  }
  return bytes;
}

const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`;

interface Started {
  readonly url: string;
  stop(): Promise<number | null>;
}

async function start(command: string, args: readonly string[]): Promise<Started> {
  const child: ChildProcess = spawn(command, args, {
    cwd: consumer,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NO_COLOR: '1', DENO_NO_UPDATE_CHECK: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), START_TIMEOUT_MS);
    const look = (text: Buffer): void => {
      printed += text.toString();
      const found = /^listening on (http:\/\/\S+)$/m.exec(printed)?.[1];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    };
    child.stdout?.on('data', look);
    child.stderr?.on('data', look);
    child.once('error', reject);
    void exited.then((code) => reject(new Error(`ended with ${code} before it listened\n${printed}`)));
  });
  return {
    url,
    async stop() {
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      child.kill('SIGTERM');
      const code = await exited;
      clearTimeout(timer);
      return code;
    },
  };
}

/**
 * The server sends a retry to one of its own callbacks and extracts, in a thread, the callback's answer to a resolve.
 * @throws Error
 */
async function mustSend(url: string, hook: string, eventsNow: () => Promise<string>): Promise<void> {
  const order = (body: object): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const resolved = await buy(`${url}/resolve/v1/resolve`, undefined, order({ url: hook, include: ['text'] }));
  const text = await resolved.text();
  const isRead = resolved.status === 200 && text.includes('METHOD_NOT_ALLOWED') && text.includes('"warnings":[]');
  must(isRead, `the paid resolve got ${resolved.status}: ${text}`);
  const request = { method: 'POST', url: hook, body: 'a retry' };
  const made = await buy(`${url}/retry/v1/retries`, undefined, order({ request }));
  must(made.status === 201, `the paid retry got ${made.status}: ${await made.text()}`);
  const endMs = Date.now() + START_TIMEOUT_MS;
  while (!(await eventsNow()).includes('"body":"a retry"')) {
    must(Date.now() < endMs, 'the retry did not arrive');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** The server sells an answer, stores a webhook, and serves its pages with every file they load. @throws Error */
async function mustServe(url: string): Promise<void> {
  const health = (await (await fetch(`${url}/health`)).json()) as { status: string };
  must(health.status === 'ok', 'not healthy');
  must((await fetch(`${url}/ready`)).status === 200, 'not ready');
  const offer = await fetch(`${url}/v1/jobs/signals?role=data+engineer`);
  must(offer.status === 402 && offer.headers.has('payment-required'), `expected an offer, got ${offer.status}`);
  const bought = await buy(`${url}/v1/jobs/signals?role=data+engineer`);
  const answer = await bought.text();
  must(bought.status === 200, `the paid request got ${bought.status}: ${answer}`);
  const made = await buy(`${url}/v1/callbacks`, undefined, { method: 'POST' });
  const creation = await made.text();
  must(made.status === 201, `the paid creation of a callback got ${made.status}: ${creation}`);
  const { id, read_token: token, callback_url: hook } = JSON.parse(creation) as Readonly<Record<string, string>>;
  await fetch(`${url}/hooks/${id}`, { method: 'POST', body: 'a webhook' });
  const headers = { authorization: `Bearer ${token}` };
  const eventsNow = async (): Promise<string> => (await fetch(`${url}/v1/callbacks/${id}/events`, { headers })).text();
  const events = await eventsNow();
  must(events.includes('"body":"a webhook"'), `the event is missing: ${events}`);
  await mustSend(url, hook as string, eventsNow);
  const asksForJson = { headers: { accept: 'application/json' } };
  must((await fetch(`${url}/`, asksForJson)).status === 404, 'a client that asks for JSON gets a page');
  for (const page of ['/', '/docs', '/inbox']) {
    const response = await fetch(url + page, { headers: { accept: 'text/html' } });
    const text = await response.text();
    must(response.status === 200, `${page} is ${response.status}: ${text.slice(0, 200)}`);
    for (const [, file] of text.matchAll(/(?:href|src)="(pages\/[^"]+)"/g)) {
      const { status } = await fetch(`${url}/${file}`);
      must(status === 200, `${file} is ${status}`);
    }
  }
}

const MOUNTED: Readonly<Record<string, readonly [command: () => string, args: readonly string[], script: string]>> = {
  'a server of Node': [
    () => NODE,
    [],
    `import { serve } from '@hono/node-server';
const listening = serve({ fetch: (request) => app.fetch(request), port: 0, hostname: '127.0.0.1' }, ({ port }) => print(port));
const stop = () => new Promise((resolve) => listening.close(resolve));`,
  ],
  'Hono under Node': [
    () => NODE,
    [],
    `import { serve } from '@hono/node-server';
import { Hono } from 'hono';
const hono = new Hono();
hono.get('/mine', (context) => context.text('mine'));
hono.all('*', (context) => app.fetch(context.req.raw));
const listening = serve({ fetch: hono.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => print(port));
const stop = () => new Promise((resolve) => listening.close(resolve));`,
  ],
  'Bun.serve': [
    () => BUN,
    [],
    `const listening = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => app.fetch(request) });
print(listening.port);
const stop = () => listening.stop(true);`,
  ],
  'Deno.serve': [
    () => DENO,
    ['run', '--quiet', '--allow-all', '--node-modules-dir=manual'],
    `const listening = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen: ({ port }) => print(port) }, (request) => app.fetch(request));
const stop = () => listening.shutdown();`,
  ],
};

const mountedScript = (server: string, name: string): string => `import { createPaygrade } from 'paygrade';
const app = await createPaygrade({ stateDir: 'state-${name}', port: 1, callbackBytes: 100_000_000 });
const print = (port) => console.log('listening on http://127.0.0.1:' + port);
${server}
process.on('SIGTERM', async () => {
  await stop();
  await app.close();
  process.exit(0);
});
`;

/** A third-party server that mounts the handler, in the version that the tests use. */
const HONO = `@hono/node-server@${manifest.devDependencies['@hono/node-server']}`;

const NATIVE_SIGNATURES = 'secp256k1@5.0.2';

/** Prints what a thread of the package reports at its start. */
const CHOICE = `import { Worker } from 'node:worker_threads';
const entry = new URL('node_modules/paygrade/dist/recovery-worker.js', import.meta.url);
const worker = new Worker(entry, { workerData: { signatures: 'auto' } });
worker.once('message', ({ library, notice }) => {
  console.log(library, notice);
  process.exit(0);
});
`;

const TYPED = `import { createPaygrade, type Paygrade, type PaygradeOptions } from 'paygrade';

const options: PaygradeOptions = { snapshot: 'none', stateDir: ':memory:', port: 0, onRequest: ({ status }) => void status };
const app: Paygrade = await createPaygrade(options);
export const answer: Response = await app.fetch(new Request('http://localhost/health'), { address: '127.0.0.1' });
// @ts-expect-error an option that is not there
await createPaygrade({ snapshots: 'none' });
`;

try {
  let tarball = '';
  await step('pack', async () => {
    const { stdout } = await npm(['pack', '--json', '--pack-destination', folder], PROJECT);
    const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as [
      { filename: string; size: number; unpackedSize: number; files: { path: string }[] },
    ];
    tarball = join(folder, packed.filename);
    const paths = packed.files.map(({ path }) => path);
    // Modules that the program loads by a computed address, which no compiler checks.
    const computed = [
      'dist/writer.js',
      'dist/reader.js',
      'dist/catalogue-worker.js',
      'dist/recovery-worker.js',
      'dist/extraction-worker.js',
      'dist/listen-bun.js',
      'dist/signer.js',
    ];
    const named = [
      'dist/main.js',
      'dist/index.js',
      'dist/types/index.d.ts',
      'dist/THIRD-PARTY-NOTICES.txt',
      'dist/libsecp256k1.wasm',
    ];
    for (const path of [...named, 'data/skills.json', ...computed]) {
      must(paths.includes(path), `${path} is missing`);
    }
    const strange = paths.filter((path) => !/^(dist|data|pages)\/|^(package\.json|README\.md|LICENSE.*)$/.test(path));
    must(strange.length === 0, `unexpected files: ${strange.join(', ')}`);
    return `${paths.length} files, ${mebibytes(packed.size)} packed, ${mebibytes(packed.unpackedSize)} unpacked`;
  });
  await step('publint', async () => {
    await run(binary('publint'), ['run', '--strict', '--pack', 'false', PROJECT], { cwd: PROJECT });
    return undefined;
  });
  await step('arethetypeswrong', async () => {
    await run(binary('attw'), [tarball, '--profile', 'esm-only', '--no-emoji'], { cwd: PROJECT });
    return undefined;
  });
  await step('install in an empty folder', async () => {
    mkdirSync(consumer);
    writeFileSync(join(consumer, 'package.json'), '{"private":true,"type":"module"}\n');
    await npm(['install', '--ignore-scripts', '--no-audit', '--no-fund', tarball], consumer);
    const { stdout } = await npm(['ls', '--all', '--parseable'], consumer);
    const packages = new Set(stdout.trim().split('\n').slice(1));
    return `${packages.size} packages, ${mebibytes(bytesUnder(join(consumer, 'node_modules')))}`;
  });
  await step('types, resolved as Node and as a bundler do', async () => {
    cpSync(join(PROJECT, 'node_modules', '@types', 'node'), join(consumer, 'node_modules', '@types', 'node'), {
      recursive: true,
    });
    cpSync(join(PROJECT, 'node_modules', 'undici-types'), join(consumer, 'node_modules', 'undici-types'), {
      recursive: true,
    });
    writeFileSync(join(consumer, 'typed.ts'), TYPED);
    // The first run checks the declarations themselves, the second only how a bundler finds them.
    for (const [module, resolution, skipped] of [
      ['nodenext', 'nodenext', 'false'],
      ['esnext', 'bundler', 'true'],
    ] as const) {
      const settings = ['--module', module, '--moduleResolution', resolution, '--skipLibCheck', skipped];
      const rest = ['--target', 'es2024', '--types', 'node', 'typed.ts'];
      await run(binary('tsc'), ['--noEmit', '--strict', ...settings, ...rest], { cwd: consumer });
    }
    return undefined;
  });
  await step('Deno arrives', async () => {
    if (DENO !== '') return DENO;
    const place = join(folder, 'deno');
    mkdirSync(place);
    writeFileSync(join(place, 'package.json'), '{"private":true}\n');
    await npm(['install', '--ignore-scripts', '--no-audit', '--no-fund', `deno@${DENO_VERSION}`], place);
    const scope = join(place, 'node_modules', '@deno');
    DENO = readdirSync(scope)
      .map((name) => join(scope, name, 'deno'))
      .find(existsSync) as string;
    return (await run(DENO, ['--version'])).stdout.split('\n', 1)[0];
  });

  const main = join('node_modules', 'paygrade', 'dist', 'main.js');
  const COMMANDS = [
    ['Node', () => NODE, [main]],
    ['Bun', () => BUN, [main]],
    ['Deno', () => DENO, ['run', '--quiet', '--allow-all', '--node-modules-dir=manual', main]],
  ] as const;
  for (const [name, command, args] of COMMANDS) {
    await step(`paygrade serve under ${name}`, async () => {
      const flags = ['serve', '--port', '0', '--state-dir', `state-of-${name}`, '--log-level', 'error'];
      const server = await start(command(), [...args, ...flags]);
      try {
        await mustServe(server.url);
      } catch (failure) {
        await server.stop();
        throw failure;
      }
      const code = await server.stop();
      must(code === 0, `ended with ${code}`);
      return undefined;
    });
  }
  await step('the native library of signatures, where it is installed', async () => {
    await npm(['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', NATIVE_SIGNATURES], consumer);
    const choice = join(consumer, 'choice.mjs');
    writeFileSync(choice, CHOICE);
    for (const [name, command] of [COMMANDS[0], COMMANDS[1]]) {
      const { stdout } = await run(command(), [choice], { cwd: consumer });
      must(stdout.startsWith('native undefined'), `${name} chose ${stdout}`);
    }
    return undefined;
  });
  await step('the command by its name', async () => {
    const { stdout } = await run(join(consumer, 'node_modules', '.bin', 'paygrade'), ['serve', '--help'], {
      cwd: consumer,
    });
    must(stdout.includes('--state-dir'), `no help: ${stdout}`);
    return undefined;
  });
  await step('servers to mount it in', async () => {
    await npm(
      ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', HONO, NATIVE_SIGNATURES],
      consumer,
    );
    return undefined;
  });
  for (const [name, [command, args, server]] of Object.entries(MOUNTED)) {
    await step(`mounted in ${name}`, async () => {
      const id = name.replace(/\W+/g, '-').toLowerCase();
      writeFileSync(join(consumer, `${id}.js`), mountedScript(server, id));
      const mounted = await start(command(), [...args, `${id}.js`]);
      try {
        await mustServe(mounted.url);
      } finally {
        const code = await mounted.stop();
        must(code === 0, `ended with ${code}`);
      }
      return undefined;
    });
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
console.log(failureCount === 0 ? 'the package is sound' : `${failureCount} steps failed`);
process.exitCode = failureCount === 0 ? 0 : 1;
