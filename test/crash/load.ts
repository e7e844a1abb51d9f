/** Clients at work until the server is killed: purchases, repeats and duplicates of them, callbacks, webhooks, waits, deletions. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Chance } from './chance.ts';
import { CREATION, type Deployment, JOBS } from './deployment.ts';
import { type Authorization, type Callback, isAlive, isUsable } from './oracle.ts';

const CLIENT_COUNT = 12;
const PAUSE_MS = 12;
const DUPLICATE_COUNT_MAX = 5;
/** Below the server's 30 a minute for each callback, so that no answer depends on the rate. */
const SENT_COUNT_MAX = 12;
const WEBHOOK_BYTES_MAX = 262_144;
/** Above it an event is not kept in memory by the server. */
const SHORT_BYTES_MAX = 2_000;
const CURRENT_COUNT = 6;
const RECENT_COUNT = 30;
/** Two bytes for a letter, escapes in JSON. */
const PADDING = 'é"\\ 0123456789';
/** The most that it takes in a body, with a little for what stands around it. */
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
/** Fills the log fast, so that it is carried over and begun anew while clients wait. */
const HEAVY_WORK = { ...WORK, webhook: 300 };

/** Until the life is over. @throws BrokenPromise */
export async function load(deployment: Deployment, chance: Chance, isHeavy: boolean): Promise<void> {
  await Promise.all(Array.from({ length: CLIENT_COUNT }, (_, i) => work(deployment, chance.of('client', i), isHeavy)));
}

async function work(deployment: Deployment, chance: Chance, isHeavy: boolean): Promise<void> {
  while (!deployment.life.isOver) {
    await once(deployment, chance, isHeavy);
    await pause(isHeavy ? 0 : chance.below(PAUSE_MS));
  }
}

async function once(deployment: Deployment, chance: Chance, isHeavy: boolean): Promise<void> {
  const kind = chance.weighted(isHeavy ? HEAVY_WORK : WORK);
  switch (kind) {
    case 'buy':
      await deployment.pay(await deployment.sign(chance.pick(JOBS), chance));
      return;
    case 'duplicates':
      await payTogether(deployment, await deployment.sign(chance.pick(JOBS), chance), chance);
      return;
    case 'create-duplicates':
      await payTogether(deployment, await deployment.sign(CREATION, chance), chance);
      return;
    case 'repeat': {
      const known = deployment.oracle.authorizations.slice(-200).filter((one) => one.sentCount > 0 && isUsable(one));
      if (known.length > 0) await deployment.pay(chance.pick(known));
      return;
    }
    case 'create-callback':
      await deployment.create(chance);
      return;
    case 'webhook': {
      const callback = current(deployment, chance, SENT_COUNT_MAX);
      if (callback === undefined) await deployment.create(chance);
      else await sendSome(deployment, callback, chance, isHeavy);
      return;
    }
    case 'wait': {
      const callback = current(deployment, chance);
      if (callback !== undefined) await deployment.wait(callback, callback.shown.at(-1));
      return;
    }
    case 'delete': {
      const callback = current(deployment, chance);
      if (callback !== undefined) await deployment.remove(callback);
      return;
    }
    default:
      kind satisfies never;
  }
}

async function payTogether(deployment: Deployment, authorization: Authorization, chance: Chance): Promise<void> {
  const answers = await Promise.all(
    Array.from({ length: chance.between(2, DUPLICATE_COUNT_MAX) }, () => deployment.pay(authorization)),
  );
  for (const answer of answers) {
    if (answer?.status === 201 && answer.text !== undefined) deployment.created(answer.text);
  }
}

/** One of the latest that nobody wants to delete, of this life or an earlier one, with less than so many webhooks. */
function current(
  deployment: Deployment,
  chance: Chance,
  sentCountMax = Number.POSITIVE_INFINITY,
): Callback | undefined {
  const latest = deployment.oracle.callbacks
    .slice(-RECENT_COUNT)
    .filter((one) => isAlive(one) && one.sent.length < sentCountMax)
    .slice(-CURRENT_COUNT);
  return latest.length === 0 ? undefined : chance.pick(latest);
}

/** One webhook, or a few at once. */
async function sendSome(deployment: Deployment, callback: Callback, chance: Chance, isHeavy: boolean): Promise<void> {
  const count = chance.isLucky(0.2) ? 3 : 1;
  await Promise.all(
    Array.from({ length: count }, () => {
      const label = `${deployment.cycle}-${callback.id}-${callback.sent.length}-${chance.hex(4)}`;
      const isLong = chance.isLucky(isHeavy ? 0.8 : 0.2);
      const padding = PADDING.repeat(chance.below(isLong ? WEBHOOK_BYTES_MAX : SHORT_BYTES_MAX) / PADDING_BYTES);
      const isJson = chance.isLucky(0.5);
      const text = isJson
        ? `{"label":"${label}","big":12345678901234567890,"padding":${JSON.stringify(padding)}}`
        : label + padding;
      const contentType = isJson ? 'application/json' : 'text/plain; charset=utf-8';
      return deployment.send(callback, Buffer.from(text), contentType, label);
    }),
  );
}
