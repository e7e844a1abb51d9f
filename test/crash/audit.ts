/**
 * The audit after each restart: does the server still hold to everything it said before the kill? Checks all records of the
 * last process and a sample of the earlier ones, and pays with the authorizations that must be free again.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { LONGEST_WAIT_MS } from '../../src/payment/settlement/reconciler.ts';
import type { Chance } from '../support/chance.ts';
import { auditBooks } from './books.ts';
import { bearer, CALLBACK_CREATION, type CrashHarness } from './harness.ts';
import {
  type Authorization,
  BrokenPromise,
  type Callback,
  type Identifier,
  isAnswering,
  isRemembered,
  isUsable,
  nameOf,
  type SentWebhook,
  transactionOf,
} from './oracle.ts';

const ASKED_AT_ONCE = 8;
const EARLIER_PAYMENT_COUNT = 30;
const EARLIER_CALLBACK_COUNT = 6;
const EARLIER_IDENTIFIER_COUNT = 8;
/** Share of the audits that read the books while the server runs. */
const BOOKS_SHARE = 0.3;
const FREE_USED_COUNT_MAX = 8;
/**
 * A case that a process finds at its start ends as dead only after the reconciler's longest wait, if its first settlement is
 * refused for a reason that proves nothing. Before that the settlement may hang, two pauses of a second or two around its 30 s.
 */
const FINAL_WITHIN_MS = LONGEST_WAIT_MS + 45_000;
const FINAL_PAUSE_MS = 100;

export interface AuditCounts {
  payments: number;
  callbacks: number;
  events: number;
  /** Authorizations of the last process without a definite answer, by the status found after the restart. */
  free: number;
  unknown: number;
  settled: number;
  /** Found free, and used for a purchase after the restart. */
  usedAgain: number;
  /** Identifiers that were asked again, and those whose charged answer no client had got whole before. */
  askedAgain: number;
  recovered: number;
}

export const emptyCounts = (): AuditCounts => ({
  payments: 0,
  callbacks: 0,
  events: 0,
  free: 0,
  unknown: 0,
  settled: 0,
  usedAgain: 0,
  askedAgain: 0,
  recovered: 0,
});

/** `count` different items, or all. */
function sample<Item>(items: readonly Item[], count: number, chance: Chance): Item[] {
  const left = [...items];
  const taken: Item[] = [];
  while (taken.length < count && left.length > 0) {
    const at = chance.below(left.length);
    taken.push(left[at]!);
    left[at] = left.at(-1)!;
    left.pop();
  }
  return taken;
}

async function forEach<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  let at = 0;
  const worker = async (): Promise<void> => {
    for (let item = items[at++]; item !== undefined; item = items[at++]) await work(item);
  };
  await Promise.all(Array.from({ length: ASKED_AT_ONCE }, worker));
}

/** Audits what the killed processes left; the one before this start completely. @throws BrokenPromise */
export async function audit(harness: CrashHarness, chance: Chance): Promise<AuditCounts> {
  const counts = emptyCounts();
  await harness.charges.audit();
  const { oracle, cycle } = harness;
  const isLast = (one: { readonly cycle: number }): boolean => one.cycle >= cycle - 1;
  const known = oracle.authorizations.filter((one) => one.sentCount > 0 && isRemembered(one));
  const last = known.filter(isLast);
  const earlier = sample(
    known.filter((one) => !isLast(one)),
    EARLIER_PAYMENT_COUNT,
    chance,
  );
  const free: Authorization[] = [];
  await forEach([...last, ...earlier], async (authorization) => {
    counts.payments++;
    if (await auditPayment(harness, authorization, isLast(authorization) ? counts : undefined))
      free.push(authorization);
  });
  await auditIdentifiers(harness, chance, counts);
  const unnamed = free.filter((one) => one.identifier === undefined && isUsable(one));
  await forEach(sample(unnamed, FREE_USED_COUNT_MAX, chance), async (authorization) => {
    if (await useAgain(harness, authorization)) counts.usedAgain++;
  });
  const callbacks = oracle.callbacks.filter((one) => Date.parse(one.expiresAt) - Date.now() > 10_000);
  const changed = callbacks.filter((one) => isLast(one) || one.sent.some(({ label }) => label.startsWith(`${cycle}-`)));
  const others = sample(
    callbacks.filter((one) => !changed.includes(one)),
    EARLIER_CALLBACK_COUNT,
    chance,
  );
  await forEach([...changed, ...others], async (callback) => {
    counts.callbacks++;
    counts.events += await auditCallback(harness, callback);
  });
  if (chance.is(BOOKS_SHARE)) await auditBooks(harness, harness.options.stateDir, false);
  const [complaint] = harness.facilitator?.complaints ?? [];
  if (complaint !== undefined) throw new BrokenPromise(complaint);
  return counts;
}

/** Asks again under all identifiers of the last process and some earlier ones, each time with a new authorization. */
async function auditIdentifiers(harness: CrashHarness, chance: Chance, counts: AuditCounts): Promise<void> {
  const { oracle, cycle } = harness;
  const used = oracle.identifiers.filter((one) => isAnswering(one) && one.authorizations.some(wasSent));
  const isUrgent = (one: Identifier): boolean => one.cycle >= cycle - 1 || isUnanswered(one);
  const earlier = used.filter((one) => !isUrgent(one));
  const chosen = [...used.filter(isUrgent), ...sample(earlier, EARLIER_IDENTIFIER_COUNT, chance)];
  await forEach(chosen, async (identifier) => {
    await askAgain(harness, identifier, chance, counts);
  });
}

/** It was charged, and no client has got the answer whole. */
export const isUnanswered = ({ charged }: Identifier): boolean =>
  charged !== undefined && charged.receptions.length === 0;

const wasSent = ({ sentCount }: Authorization): boolean => sentCount > 0;

/** True when the answer came; what was charged must be answered, which the harness checks. */
async function askAgain(
  harness: CrashHarness,
  identifier: Identifier,
  chance: Chance,
  counts: AuditCounts,
): Promise<boolean> {
  const { charged, authorizations } = identifier;
  const wasLost = isUnanswered(identifier);
  const first = charged ?? authorizations.find(wasSent)!;
  const answer = await harness.pay(await harness.signAgain(first, chance));
  if (answer === undefined) throw new BrokenPromise('the server ended while it was audited');
  if (answer.status === 201 && answer.text !== undefined) harness.recordCallback(answer.text);
  counts.askedAgain++;
  if (answer.status < 300 && wasLost) counts.recovered++;
  return answer.status < 300;
}

/** True when the authorization is free. */
async function auditPayment(
  harness: CrashHarness,
  authorization: Authorization,
  counts: AuditCounts | undefined,
): Promise<boolean> {
  const standing = await harness.statusOf(authorization);
  if (standing === undefined) throw new BrokenPromise('the server ended while it was audited');
  const { state, transaction } = standing;
  const movement = harness.facilitator?.movementOf(authorization.nonce);
  const broken = (why: string): BrokenPromise =>
    new BrokenPromise(`${nameOf(authorization)}, signed in cycle ${authorization.cycle}, ${why}`);
  if (authorization.isSettled && state !== 'settled') throw broken(`was settled and is ${state} after the restart`);
  switch (state) {
    case 'free': {
      if (movement !== undefined && movement.movedCount > 0) throw broken('was paid and is not known any more');
      if (movement !== undefined && movement.settleCount > 0 && !movement.isRefused) {
        throw broken('had reached its settlement and is not known any more');
      }
      if (counts !== undefined) counts.free++;
      return true;
    }
    case 'settled': {
      if (movement !== undefined && movement.movedCount !== 1)
        throw broken(`is settled and moved ${movement.movedCount} times`);
      if (authorization.receipt !== undefined && transactionOf(authorization.receipt).transaction !== transaction) {
        throw broken(`is settled with ${transaction}, not as in its receipt`);
      }
      if (counts !== undefined && authorization.successCount === 0) counts.settled++;
      harness.oracle.noteSettled(authorization);
      break;
    }
    case 'unknown':
      if (counts !== undefined) counts.unknown++;
      break;
    default:
      throw broken(`is ${state} after a restart, without a request`);
  }
  if (!isUsable(authorization)) return false;
  const answer = await harness.pay(authorization);
  if (answer?.status === 402 && !isUsable(authorization)) return false; // its window ended on the way
  if (answer?.status !== 409)
    throw broken(`is ${state}, and another request with it is ${answer?.status} ${answer?.text}`);
  if (state === 'settled' && authorization.receipt === undefined)
    throw broken('is settled, and its 409 has no receipt');
  return false;
}

/** Sends two requests at once with a free authorization: one must be answered, or fail as the facilitator's plan says. */
async function useAgain(harness: CrashHarness, authorization: Authorization): Promise<boolean> {
  const answers = await Promise.all([harness.pay(authorization), harness.pay(authorization)]);
  for (const answer of answers) {
    if (answer?.status === 201 && answer.text !== undefined) harness.recordCallback(answer.text);
  }
  const plan = harness.facilitator?.movementOf(authorization.nonce)?.plan ?? 'plain';
  const bought = answers.filter(
    (answer) => answer?.status === (authorization.path === CALLBACK_CREATION.path ? 201 : 200),
  );
  if (bought.length === 0 && plan === 'plain' && isUsable(authorization)) {
    const seen = answers.map((answer) => `${answer?.status} ${answer?.text}`).join(' and ');
    throw new BrokenPromise(`${nameOf(authorization)} is free and buys nothing: ${seen}`);
  }
  return bought.length === 1;
}

interface Listed {
  readonly expires_at: string;
  readonly event_count: number;
  readonly events: readonly { readonly id: string; readonly size_bytes: number }[];
}

/** @returns the number of its events */
async function auditCallback(harness: CrashHarness, callback: Callback): Promise<number> {
  const { id } = callback;
  const path = `/v1/callbacks/${id}`;
  const answer = await harness.ask(`${path}/events`, { headers: bearer(callback) });
  const broken = (why: string): BrokenPromise =>
    new BrokenPromise(`callback ${id}, made in cycle ${callback.cycle}, ${why}`);
  if (answer?.text === undefined) throw new BrokenPromise('the server ended while it was audited');
  if (callback.isDeleted) {
    if (answer.status !== 404) throw broken(`was deleted and is ${answer.status}`);
    return 0;
  }
  if (answer.status === 404 && callback.isDeletionSent) {
    callback.isDeleted = true; // the server read that from disk, so it is final
    return 0;
  }
  if (answer.status !== 200) throw broken(`was paid for and is ${answer.status} ${answer.text}`);
  const listed = JSON.parse(answer.text) as Listed;
  if (listed.expires_at !== callback.expiresAt)
    throw broken(`ended ${callback.expiresAt} and ends ${listed.expires_at}`);
  const stranger = await harness.ask(`${path}/events`, { headers: { authorization: `Bearer ${callback.readToken}x` } });
  if (stranger?.status !== 401) throw broken(`answers a wrong token ${stranger?.status}`);

  const ids = listed.events.map((event) => event.id);
  if (new Set(ids).size !== ids.length) throw broken('shows an event twice');
  for (const [at, shown] of callback.shown.entries()) {
    if (ids[at] !== shown) throw broken(`showed ${shown} as event ${at + 1} and shows ${ids[at] ?? 'none'}`);
  }
  const found: SentWebhook[] = [];
  for (const event of listed.events) found.push(await sentOf(harness, callback, event.id));
  for (const sent of callback.sent) {
    if (sent.eventId !== undefined && !ids.includes(sent.eventId)) throw broken(`has lost webhook ${sent.label}`);
  }
  if (new Set(found).size !== found.length) throw broken('holds a webhook twice');
  for (const [at, later] of found.entries()) {
    for (const earlier of found.slice(0, at)) {
      const wasAfter = later.receivedAt !== undefined && later.receivedAt < earlier.sentAt;
      if (wasAfter) throw broken(`shows ${earlier.label} before ${later.label}`);
    }
  }
  callback.shown = ids;
  return ids.length;
}

/** The webhook whose bytes this event has. */
async function sentOf(harness: CrashHarness, callback: Callback, eventId: string): Promise<SentWebhook> {
  const response = await harness.bytesOf(`/v1/callbacks/${callback.id}/events/${eventId}/raw`, bearer(callback));
  const broken = (why: string): BrokenPromise => new BrokenPromise(`event ${eventId} of ${callback.id} ${why}`);
  if (response === undefined) throw broken('cannot be read');
  const sent = callback.sent.find(({ bytes }) => bytes.equals(response));
  if (sent === undefined) throw broken('has bytes that no client sent');
  if (sent.isRefused) throw broken(`is webhook ${sent.label}, which was refused`);
  if (sent.eventId !== undefined && sent.eventId !== eventId) throw broken(`was acknowledged as ${sent.eventId}`);
  return sent;
}

/**
 * Every identifier under which money was charged gives its answer: what was paid for is lost to no client that asks in time.
 * To be called once no settlement is unknown. @throws BrokenPromise
 */
export async function recoverAll(harness: CrashHarness, chance: Chance, counts: AuditCounts): Promise<void> {
  const lost = harness.oracle.identifiers.filter((one) => isUnanswered(one) && isAnswering(one));
  await forEach(lost, async (identifier) => {
    if (await askAgain(harness, identifier, chance, counts)) return;
    throw new BrokenPromise(`${nameOf(identifier.charged!)} was charged, and its answer is lost`);
  });
}

/** Waits until no settlement is unknown and every payment that moved money is on record. @throws BrokenPromise */
export async function settleDown(harness: CrashHarness): Promise<void> {
  const untilMs = performance.now() + FINAL_WITHIN_MS;
  let open = harness.oracle.authorizations.filter((one) => one.sentCount > 0 && !one.isSettled && isRemembered(one));
  for (;;) {
    const unknown: Authorization[] = [];
    await forEach(open, async (authorization) => {
      const standing = await harness.statusOf(authorization);
      const movement = harness.facilitator?.movementOf(authorization.nonce);
      const broken = (why: string): BrokenPromise => new BrokenPromise(`${nameOf(authorization)} ${why}`);
      switch (standing?.state) {
        case 'settled':
          if (movement !== undefined && movement.movedCount !== 1) throw broken('is settled without its money');
          harness.oracle.noteSettled(authorization);
          break;
        case 'free':
          if (movement !== undefined && movement.movedCount > 0) throw broken('was paid and is free');
          break;
        case 'unknown':
          unknown.push(authorization);
          break;
        default:
          throw broken(`is ${standing?.state}`);
      }
    });
    if (unknown.length === 0) return;
    if (performance.now() > untilMs)
      throw new BrokenPromise(`${nameOf(unknown[0]!)} has no end after ${FINAL_WITHIN_MS} ms`);
    open = unknown;
    await pause(FINAL_PAUSE_MS);
  }
}
