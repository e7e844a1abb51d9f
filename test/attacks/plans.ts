/** Each attack of the issue with its intensity and what it may cost. Megabytes are 2^20 bytes of resident memory. */
import { DISGUISES } from './addresses.ts';
import type { Plan } from './trial.ts';

/** `BODY_BYTES`, megabytes. */
const BODY_MEGABYTES = 64;
/** Beside them, what streams hold of bodies that wait or were refused: up to 128 KiB for each of 900 connections. */
const UNREAD_BODIES_MEGABYTES = 128;
/** What a few hundred connections and the garbage of a busy process may take beside what is bounded. */
const BUSY_MEGABYTES = 160;
/** Unread output that a connection may hold. */
const OUTPUT_MEGABYTES = 1;
/** Requests that an attacker of the pipelines has sent, and that may stand in the server's memory. */
const PIPELINE_MEGABYTES = 1;

/** `RATE_LIMIT_PER_MINUTE` of the trial with the disguises. */
const RATE_PER_MINUTE = 60;
/** The default of `CALLBACK_LIMIT_PER_MINUTE`, decisions §2. */
const CREATIONS_PER_MINUTE = 600;
/** decisions §5: what a callback claims. */
const CLAIM_BYTES = 10 * 262_144 + 65_536;

const both = (megabytes: number): Plan['growthMegabytes'] => ({ node: megabytes, bun: megabytes });

const unreadPipelines = (socketCount: number): Pick<Plan, 'orders' | 'begunMin' | 'growthMegabytes'> => ({
  orders: [{ name: 'unread pipelines', intensity: socketCount }],
  begunMin: socketCount,
  growthMegabytes: both(BUSY_MEGABYTES + socketCount * (OUTPUT_MEGABYTES + PIPELINE_MEGABYTES)),
});

export const PLANS = {
  'unread pipelines on 12 sockets, at a heap of 1 GB': { ...unreadPipelines(12), heapMegabytes: 1024, isQuick: true },
  '400 pipelined reads of one heavy callback, unread, at a heap of 1 GB': {
    orders: [{ name: 'pipelined reads', intensity: 400 }],
    begunMin: 1,
    heapMegabytes: 1024,
    growthMegabytes: both(BUSY_MEGABYTES),
  },
  '60 unread reads of one heavy callback': {
    orders: [{ name: 'unread reads', intensity: 60 }],
    begunMin: 60,
    growthMegabytes: both(BUSY_MEGABYTES + 60 * OUTPUT_MEGABYTES),
  },
  '50 ordinary readers of one heavy callback': {
    isQuick: true,
    orders: [{ name: 'ordinary readers', intensity: 50 }],
    begunMin: 50,
    growthMegabytes: both(BUSY_MEGABYTES + 50 * OUTPUT_MEGABYTES),
  },
  'creations signed by an empty wallet': {
    isQuick: true,
    orders: [{ name: 'empty wallet', intensity: 300 }],
    begunMin: 400,
    isFacilitated: true,
    growthMegabytes: both(BUSY_MEGABYTES),
  },
  'unpaid creations': {
    orders: [{ name: 'unpaid creations', intensity: 400 }],
    begunMin: 800,
    growthMegabytes: both(BUSY_MEGABYTES),
    judge: (figures) => {
      const counts = figures['unpaid creations'] ?? {};
      const passed = counts['402 PAYMENT_REQUIRED'] ?? 0;
      const refused = counts['429 RATE_LIMIT_EXCEEDED'] ?? 0;
      const unsaid = counts['429 without Retry-After'] ?? 0;
      return [
        ...(passed > CREATIONS_PER_MINUTE
          ? [`${passed} unpaid creations of one address passed, at most ${CREATIONS_PER_MINUTE} may`]
          : []),
        ...(refused === 0 ? ['no unpaid creation was refused'] : []),
        ...(unsaid > 0 ? [`${unsaid} refusals 429 do not say when to come back`] : []),
      ];
    },
  },
  'forged creations beside little room': {
    orders: [{ name: 'forged creations', intensity: 600 }],
    begunMin: 800,
    // Room for four callbacks. A recovery of noble takes 1.3 ms, so that forgeries wait for theirs.
    variables: { CALLBACK_BYTES: String(4 * CLAIM_BYTES), SIGNATURES: 'noble', CALLBACK_LIMIT_PER_MINUTE: '0' },
    growthMegabytes: both(BUSY_MEGABYTES),
  },
  'contract signatures on which the facilitator fails': {
    orders: [{ name: 'failing contract signatures', intensity: 64 }],
    begunMin: 128,
    isFacilitated: true,
    growthMegabytes: both(BUSY_MEGABYTES),
  },
  'one client under many addresses': {
    orders: [{ name: 'disguises', intensity: 40 }],
    // 80 of each disguise.
    begunMin: 560,
    variables: { TRUST_PROXY: 'true', RATE_LIMIT_PER_MINUTE: String(RATE_PER_MINUTE) },
    // Its purchases would exceed this rate.
    customer: { purchasesPerSecond: 0, callbacksPerSecond: 2 },
    growthMegabytes: both(BUSY_MEGABYTES),
    judge: (figures) => {
      const counts = figures.disguises ?? {};
      return Object.keys(DISGUISES).flatMap((name) => {
        const passed = counts[`${name}: passed`] ?? 0;
        if (passed === 0) return [`${name}: none of ${counts[`${name}: asked`] ?? 0} was answered`];
        return passed > RATE_PER_MINUTE ? [`${name}: ${passed} passed, at most ${RATE_PER_MINUTE} may`] : [];
      });
    },
  },
  '30 callbacks of webhooks that stop a byte short': {
    orders: [{ name: 'stopped bodies', intensity: 30 }],
    begunMin: 900,
    growthMegabytes: both(BODY_MEGABYTES + UNREAD_BODIES_MEGABYTES),
  },
} as const satisfies Record<string, Plan>;

/** Attacks that need longer, or differ from another only in their intensity. */
export const LONG_PLANS = {
  'unread pipelines on 40 sockets': unreadPipelines(40),
  'contract signatures on which the facilitator never answers': {
    orders: [{ name: 'hanging contract signatures', intensity: 64 }],
    begunMin: 128,
    isFacilitated: true,
    growthMegabytes: both(BUSY_MEGABYTES),
  },
} as const satisfies Record<string, Plan>;
