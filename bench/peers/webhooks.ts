/** Webhooks of 1 KiB to the application and to a bare server, in turn: the servers of webhook-server.ts. */
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { type Contender, inTurn, type PairOptions, type PairResult, type Running, start } from './pairs.ts';

export interface WebhookPair {
  readonly title: string;
  /** The kind of the bare server. */
  readonly bare: 'echo' | 'insert';
  readonly isDurable: boolean;
}

export const WEBHOOK_PAIRS: readonly WebhookPair[] = [
  { title: 'webhook', bare: 'echo', isDurable: false },
  { title: 'webhook, durable', bare: 'insert', isDurable: true },
];

/** Each callback takes ten webhooks, and the faster runtime answers some 25,000 a second. */
const CALLBACKS_A_SECOND = 3_000;

async function makeCallbacks({ child }: Running, count: number, file: string): Promise<void> {
  child.stdin!.write(`${count} ${file}\n`);
  const [said] = (await once(child.stdout!, 'data')) as [string];
  if (said.trim() !== 'made') throw new Error(`no callbacks: ${said}`);
}

export async function measureWebhooks(
  { title, bare, isDurable }: WebhookPair,
  options: PairOptions,
  directory: string,
): Promise<PairResult> {
  const { program, seconds } = options;
  const file = join(directory, 'callbacks');
  const contenders: Contender[] = [];
  const open = (kind: string): Promise<Running> => {
    const words = isDurable ? ['--state-dir', mkdtempSync(join(directory, 'state-'))] : [];
    return start(program, 'webhook-server.ts', ['--kind', kind, ...words]);
  };
  try {
    const own = await open('app');
    const prepare = async (factor: number): Promise<readonly string[]> => {
      await makeCallbacks(own, Math.ceil(CALLBACKS_A_SECOND * seconds * factor), file);
      return ['webhooks', file];
    };
    contenders.push({ name: 'paygrade', running: own, prepare });
    // The bare server gets the same requests but looks up no callback.
    contenders.push({ name: bare, running: await open(bare), prepare: async () => ['webhooks', file] });
    return await inTurn(title, '/hooks/', 200, contenders, options);
  } finally {
    for (const { running } of contenders) running.child.kill('SIGKILL');
  }
}
