/**
 * The application as `serve` runs it, in a separate process on a free port, for benches that measure it from outside; and
 * callbacks bought from it. A signal requests its memory figures (collect.ts), so that the measured server is unmodified.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemRandom } from '../src/base/random.ts';
import { parseOffer, Signer } from '../src/load/signing.ts';

/** Memory of a whole process, bytes. */
export interface Memory {
  readonly residentBytes: number;
  /** Heap in use after a full collection. */
  readonly heapBytes: number;
}

export interface Served {
  readonly port: number;
  readonly pid: number;
  /** After a full collection. */
  memory(): Promise<Memory>;
  stop(): void;
}

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** A program that prints `listening on` and its address, with collect.ts in it. */
export async function startMeasured(
  program: string,
  isBun: boolean,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Served> {
  const preloading = isBun ? ['--preload', here('collect.ts')] : ['--expose-gc', '--import', here('collect.ts')];
  const child: ChildProcess = spawn(program, [...preloading, ...words], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let isStopped = false;
  let text = '';
  let look = (): void => {};
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    look();
  });
  const said = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      look = () => {
        const found = pattern.exec(text);
        if (found === null) return;
        text = '';
        resolve(found[1]!);
      };
      child.once('error', reject);
      child.once('exit', (code) => {
        if (!isStopped) reject(new Error(`${words.join(' ')} ended with ${code}`));
      });
      look();
    });
  const port = Number(await said(/listening on \S*:(\d+)\n/));
  return {
    port,
    pid: child.pid!, // it has listened
    async memory() {
      child.kill('SIGUSR2');
      return JSON.parse(await said(/memory (.*)\n/)) as Memory;
    },
    stop() {
      isStopped = true;
      child.kill('SIGKILL');
    },
  };
}

export interface ServeOptions {
  readonly program: string;
  readonly isBun: boolean;
  /** `:memory:`, or a temporary folder, which the server's end removes. */
  readonly state: 'folder' | ':memory:';
}

/** `paygrade serve` with its defaults, except for a quiet log. */
export async function serveApplication({ program, isBun, state }: ServeOptions): Promise<Served> {
  const directory = state === 'folder' ? mkdtempSync(join(tmpdir(), 'paygrade-bench-')) : undefined;
  const remove = (): void => {
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
  };
  try {
    const served = await startMeasured(program, isBun, [here('../src/main.ts'), 'serve'], {
      PORT: '0',
      STATE_DIR: directory ?? state,
      LOG_LEVEL: 'error',
    });
    return {
      ...served,
      stop() {
        served.stop();
        remove();
      },
    };
  } catch (failure) {
    remove();
    throw failure;
  }
}

/** Current resident size, without a collection, and its peak. Linux. */
export function residentBytesOf(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytes = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024;
  return { now: bytes('VmRSS'), peak: bytes('VmHWM') };
}

export interface BoughtCallback {
  readonly id: string;
  readonly token: string;
}

/** Buys callbacks one after another, with throwaway wallets that have money only in a play ledger. */
export async function buyCallbacks(port: number, count: number): Promise<BoughtCallback[]> {
  const url = `http://127.0.0.1:${port}/v1/callbacks`;
  const unpaid = await fetch(url, { method: 'POST' });
  await unpaid.arrayBuffer();
  const offer = parseOffer(unpaid.headers.get('payment-required') ?? '');
  if (offer === undefined) throw new Error(`no offer for a callback: ${unpaid.status}`);
  const signer = new Signer(systemRandom);
  const callbacks: BoughtCallback[] = [];
  while (callbacks.length < count) {
    const { header } = signer.sign(offer, Date.now());
    const made = await fetch(url, { method: 'POST', headers: { 'payment-signature': header } });
    const { id, read_token: token } = (await made.json()) as { id: string; read_token: string };
    if (made.status !== 201) throw new Error(`a callback was paid for and not made: ${made.status}`);
    callbacks.push({ id, token });
  }
  return callbacks;
}
