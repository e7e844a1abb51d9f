/** The load: clients that buy, repeat and duplicate payments, create callbacks, send webhooks, wait and delete until the server is killed. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Chance } from '../support/chance.ts';
import { CALLBACK_CREATION, type CrashHarness, JOBS_OPERATIONS } from './harness.ts';
import { type Authorization, type Callback, type Identifier, isAlive, isAnswering, isUsable } from './oracle.ts';

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
  'buy-named': 16,
  'create-named': 8,
  'ask-again': 12,
  'misuse-identifier': 4,
  cut: 8,
  webhook: 60,
  wait: 8,
  delete: 5,
  charge: 20,
} as const;
/** Fills the log fast, so that the server starts a new one while clients wait. */
const HEAVY_WORK = { ...WORK, webhook: 300 };
/** Most purchases are of callbacks under an identifier. */
const NAMED_WORK = { ...WORK, webhook: 30, 'create-named': 120 };
/** Most purchases lose their client while they are settled. */
const CUT_WORK = { ...WORK, webhook: 20, cut: 120 } as const;
const WORK_OF = { usual: WORK, heavy: HEAVY_WORK, named: NAMED_WORK, cut: CUT_WORK } as const;
export type LoadKind = keyof typeof WORK_OF;

/** Runs until the server has ended. @throws BrokenPromise */
export async function load(harness: CrashHarness, chance: Chance, kind: LoadKind): Promise<void> {
  await Promise.all(Array.from({ length: CLIENT_COUNT }, (_, i) => work(harness, chance.named('client', i), kind)));
}

async function work(harness: CrashHarness, chance: Chance, kind: LoadKind): Promise<void> {
  while (!harness.server.hasEnded) {
    await once(harness, chance, kind);
    await pause(kind === 'heavy' ? 0 : chance.below(PAUSE_MS));
  }
}

async function once(harness: CrashHarness, chance: Chance, load: LoadKind): Promise<void> {
  const isHeavy = load === 'heavy';
  const kind = chance.weighted(WORK_OF[load]);
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
    case 'buy-named':
      await buyNamed(
        harness,
        await harness.sign(chance.pick(JOBS_OPERATIONS), chance, harness.identifier(chance)),
        chance,
      );
      return;
    case 'create-named':
      await buyNamed(harness, await harness.sign(CALLBACK_CREATION, chance, harness.identifier(chance)), chance);
      return;
    case 'ask-again': {
      const identifier = recentIdentifier(harness, chance);
      if (identifier !== undefined) await askAgain(harness, identifier, chance);
      return;
    }
    case 'misuse-identifier': {
      const identifier = recentIdentifier(harness, chance);
      if (identifier !== undefined) await misuse(harness, identifier, chance);
      return;
    }
    case 'cut':
      await harness.payAndCut(await harness.sign(chance.pick(JOBS_OPERATIONS), chance), chance);
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
    case 'charge':
      await harness.charge(chance);
      return;
    default:
      kind satisfies never;
  }
}

/** Buys under an identifier, or cuts the connection and asks again, or asks twice at once. */
async function buyNamed(harness: CrashHarness, first: Authorization, chance: Chance): Promise<void> {
  const again = await harness.signAgain(first, chance);
  if (chance.is(0.3)) {
    await harness.payAndCut(first, chance);
    if (!harness.server.hasEnded) await record(harness, again);
    return;
  }
  const isTogether = chance.is(0.3);
  await Promise.all([record(harness, first), isTogether ? record(harness, again) : undefined]);
  if (!isTogether && !harness.server.hasEnded && chance.is(0.4)) await record(harness, again);
}

/** Pays, and writes down the callback of a 201. */
export async function record(harness: CrashHarness, authorization: Authorization): Promise<void> {
  const answer = await harness.pay(authorization);
  if (answer?.status === 201 && answer.text !== undefined) harness.recordCallback(answer.text);
}

function recentIdentifier({ oracle }: CrashHarness, chance: Chance): Identifier | undefined {
  const recent = oracle.identifiers.slice(-RECENT_COUNT).filter((one) => one.authorizations.length > 0);
  const answering = recent.filter(isAnswering);
  return answering.length === 0 ? undefined : chance.pick(answering);
}

/** Asks for an answer with a new authorization, or with one that was signed before. */
async function askAgain(harness: CrashHarness, { authorizations }: Identifier, chance: Chance): Promise<void> {
  const first = chance.pick(authorizations);
  if (chance.is(0.3) && first.sentCount > 0 && isUsable(first)) await record(harness, first);
  else await record(harness, await harness.signAgain(first, chance));
}

/** Uses an identifier for another question or as another payer. */
async function misuse(harness: CrashHarness, identifier: Identifier, chance: Chance): Promise<void> {
  const { path } = identifier.authorizations[0]!;
  const others = [...JOBS_OPERATIONS, CALLBACK_CREATION].filter((one) => chance.is(0.5) || one.path !== path);
  await record(harness, await harness.sign(chance.pick(others), chance, identifier));
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
