/** The load: clients that buy, repeat and duplicate payments, create callbacks, send webhooks, wait and delete until the server is killed. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Chance } from '../support/chance.ts';
import { CALLBACK_CREATION, type CrashHarness, JOBS_OPERATIONS } from './harness.ts';
import { type Authorization, type Callback, isAlive, isUsable } from './oracle.ts';

const CLIENT_COUNT = 12;
const PAUSE_MS = 12;
const DUPLICATE_COUNT_MAX = 5;
/** Below the server's 30 a minute for each callback, so that no answer depends on the rate. */
const SENT_COUNT_MAX = 12;
const WEBHOOK_BYTES_MAX = 262_144;
/** The server keeps no longer body in memory. */
const SHORT_BYTES_MAX = 2_000;
const CURRENT_COUNT = 6;
const RECENT_COUNT = 30;
/** Holds a letter of two bytes and characters that JSON escapes. */
const PADDING = 'é"\\ 0123456789';
/** Upper bound of its bytes in a body, with a share of the text around it. */
const PADDING_BYTES = 18;

const WORK = {
  buy: 30,
  duplicates: 12,
  repeat: 6,
  'create-callback': 14,
  'create-duplicates': 3,
  webhook: 60,
  wait: 8,
  delete: 5,
} as const;
/** Fills the log fast, so that the server starts a new one while clients wait. */
const HEAVY_WORK = { ...WORK, webhook: 300 };

/** Runs until the server has ended. @throws BrokenPromise */
export async function load(harness: CrashHarness, chance: Chance, isHeavy: boolean): Promise<void> {
  await Promise.all(Array.from({ length: CLIENT_COUNT }, (_, i) => work(harness, chance.named('client', i), isHeavy)));
}

async function work(harness: CrashHarness, chance: Chance, isHeavy: boolean): Promise<void> {
  while (!harness.server.hasEnded) {
    await once(harness, chance, isHeavy);
    await pause(isHeavy ? 0 : chance.below(PAUSE_MS));
  }
}

async function once(harness: CrashHarness, chance: Chance, isHeavy: boolean): Promise<void> {
  const kind = chance.weighted(isHeavy ? HEAVY_WORK : WORK);
  switch (kind) {
    case 'buy':
      await harness.pay(await harness.sign(chance.pick(JOBS_OPERATIONS), chance));
      return;
    case 'duplicates':
      await payTogether(harness, await harness.sign(chance.pick(JOBS_OPERATIONS), chance), chance);
      return;
    case 'create-duplicates':
      await payTogether(harness, await harness.sign(CALLBACK_CREATION, chance), chance);
      return;
    case 'repeat': {
      const known = harness.oracle.authorizations.slice(-200).filter((one) => one.sentCount > 0 && isUsable(one));
      if (known.length > 0) await harness.pay(chance.pick(known));
      return;
    }
    case 'create-callback':
      await harness.create(chance);
      return;
    case 'webhook': {
      const callback = current(harness, chance, SENT_COUNT_MAX);
      if (callback === undefined) await harness.create(chance);
      else await sendSome(harness, callback, chance, isHeavy);
      return;
    }
    case 'wait': {
      const callback = current(harness, chance);
      if (callback !== undefined) await harness.wait(callback, callback.shown.at(-1));
      return;
    }
    case 'delete': {
      const callback = current(harness, chance);
      if (callback !== undefined) await harness.remove(callback);
      return;
    }
    default:
      kind satisfies never;
  }
}

async function payTogether(harness: CrashHarness, authorization: Authorization, chance: Chance): Promise<void> {
  const answers = await Promise.all(
    Array.from({ length: chance.wholeBetween(2, DUPLICATE_COUNT_MAX) }, () => harness.pay(authorization)),
  );
  for (const answer of answers) {
    if (answer?.status === 201 && answer.text !== undefined) harness.recordCallback(answer.text);
  }
}

/** One of the latest callbacks without a deletion, with fewer than `sentCountMax` webhooks; it may be older than this process. */
function current(harness: CrashHarness, chance: Chance, sentCountMax = Number.POSITIVE_INFINITY): Callback | undefined {
  const latest = harness.oracle.callbacks
    .slice(-RECENT_COUNT)
    .filter((one) => isAlive(one) && one.sent.length < sentCountMax)
    .slice(-CURRENT_COUNT);
  return latest.length === 0 ? undefined : chance.pick(latest);
}

/** One webhook, or a few at once. */
async function sendSome(harness: CrashHarness, callback: Callback, chance: Chance, isHeavy: boolean): Promise<void> {
  const count = chance.is(0.2) ? 3 : 1;
  await Promise.all(
    Array.from({ length: count }, () => {
      const label = `${harness.cycle}-${callback.id}-${callback.sent.length}-${chance.hex(4)}`;
      const isLong = chance.is(isHeavy ? 0.8 : 0.2);
      const padding = PADDING.repeat(chance.below(isLong ? WEBHOOK_BYTES_MAX : SHORT_BYTES_MAX) / PADDING_BYTES);
      const isJson = chance.is(0.5);
      const text = isJson
        ? `{"label":"${label}","big":12345678901234567890,"padding":${JSON.stringify(padding)}}`
        : label + padding;
      const contentType = isJson ? 'application/json' : 'text/plain; charset=utf-8';
      return harness.send(callback, Buffer.from(text), contentType, label);
    }),
  );
}
