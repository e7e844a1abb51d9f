/**
 * The audit of the books: they must agree with the ledger (the play ledger's sums, or the facilitator's own count) and with
 * what the clients wrote down (decisions §4). They are read as an operator reads them, by `paygrade sales`, from the folder of
 * a server that was killed, that stopped, or that runs.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { binaryOf, startProcess } from '../support/server.ts';
import type { CrashHarness } from './harness.ts';
import { type Authorization, BrokenPromise, nameOf } from './oracle.ts';

/**
 * A sale may stand as undelivered although its client got the answer whole, when the process was killed within this time. Under
 * Bun the server looks at the connection 200 to 400 ms after the hand-over, of a short answer 25 to 50 ms; then it gathers
 * deliveries for another 50 ms.
 */
const LAST_COMMITS_MS = 1500;
/** On a busy machine each of these turns (two looks, gathering, the commit) may come as late as the slowest answer did. */
const LATE_TURNS = 4;

/** A server sees by then that a client has closed its connection. */
const CUT_NOTICED_MS = 200;

export interface BooksCounts {
  sales: number;
  delivered: number;
  /** Undelivered: no client got the answer, and none cut its connection. */
  undelivered: number;
  /** A client got it whole, in the last commits before the kill; the second number is of those with a longer time than usual. */
  undeliveredThoughDelivered: number;
  late: number;
  /** The longest time between such an answer and the kill. */
  longestMs: number;
  /** The client cut the connection and never got it whole. */
  cutUndelivered: number;
  cutDelivered: number;
}

export const emptyBooks = (): BooksCounts => ({
  sales: 0,
  delivered: 0,
  undelivered: 0,
  undeliveredThoughDelivered: 0,
  late: 0,
  longestMs: 0,
  cutUndelivered: 0,
  cutDelivered: 0,
});

interface SaleLine {
  readonly time: string;
  readonly operation: string;
  readonly amount_atomic: string;
  readonly network: string;
  readonly payer: string;
  readonly nonce: string;
  readonly transaction: string;
  readonly request_id: string;
  readonly delivered: boolean;
  readonly settlement: string;
}

/** The sales of a folder, as the command of the program under test gives them. @throws BrokenPromise */
async function salesOf(harness: CrashHarness, folder: string): Promise<SaleLine[]> {
  const { runtime, entry } = harness.options;
  const words = [entry, 'sales', '--state-dir', folder, '--json'];
  const { exitCode, stdout, stderr } = await startProcess(binaryOf(runtime), words).ended;
  if (exitCode !== 0) throw new BrokenPromise(`the books cannot be read: exit code ${exitCode}\n${stderr}`);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as SaleLine);
}

/**
 * @param isAtRest no server runs on the folder, so sums can be compared
 * @throws BrokenPromise
 */
export async function auditBooks(harness: CrashHarness, folder: string, isAtRest: boolean): Promise<BooksCounts> {
  const { oracle } = harness;
  const sales = await salesOf(harness, folder);
  const known = new Map(oracle.authorizations.map((one) => [one.nonce as string, one]));
  const requests = new Set<string>();
  const sold = new Set<string>();
  const counts: BooksCounts = { ...emptyBooks(), sales: sales.length };
  for (const sale of sales) {
    const authorization = known.get(sale.nonce);
    if (authorization === undefined) throw new BrokenPromise(`the books have a sale that nobody paid: ${shown(sale)}`);
    if (sold.has(sale.nonce)) throw new BrokenPromise(`the books have a sale twice: ${shown(sale)}`);
    if (requests.has(sale.request_id)) throw new BrokenPromise(`the books have a request twice: ${shown(sale)}`);
    sold.add(sale.nonce);
    requests.add(sale.request_id);
    compare(harness, sale, authorization);
    countDelivery(harness, sale, authorization, counts);
  }
  for (const authorization of oracle.authorizations) {
    if (authorization.isSettled && !sold.has(authorization.nonce)) {
      throw new BrokenPromise(`${nameOf(authorization)} is settled and not in the books`);
    }
  }
  if (isAtRest) compareSums(folder, sales);
  return counts;
}

const shown = (sale: SaleLine): string => JSON.stringify(sale);

function compare(harness: CrashHarness, sale: SaleLine, authorization: Authorization): void {
  const { payer, valueAtomic, operation, transaction, requestId } = authorization;
  const expected: Partial<SaleLine> = {
    payer,
    amount_atomic: String(valueAtomic),
    operation,
    transaction,
    settlement: harness.options.settlement,
    ...(requestId !== undefined && { request_id: requestId }),
  };
  for (const [name, value] of Object.entries(expected)) {
    if (sale[name as keyof SaleLine] !== value) {
      throw new BrokenPromise(
        `${nameOf(authorization)} has another ${name} in the books, not ${value}: ${shown(sale)}`,
      );
    }
  }
  const moved = harness.facilitator?.movementOf(authorization.nonce)?.movedCount ?? 1;
  if (moved !== 1) throw new BrokenPromise(`the books have a sale whose money moved ${moved} times: ${shown(sale)}`);
}

function countDelivery(harness: CrashHarness, sale: SaleLine, authorization: Authorization, counts: BooksCounts): void {
  const { receptions, cutCount } = authorization;
  if (sale.delivered) {
    counts.delivered++;
    if (receptions.length > 0) return;
    if (cutCount === 0) throw new BrokenPromise(`the books have as delivered what no client got: ${shown(sale)}`);
    if (wasCutBefore(harness, authorization)) {
      throw new BrokenPromise(`the books have as delivered what its client had cut before: ${shown(sale)}`);
    }
    counts.cutDelivered++;
    return;
  }
  if (receptions.length === 0) {
    if (cutCount > 0) counts.cutUndelivered++;
    else counts.undelivered++;
    return;
  }
  for (const { server, atMs } of receptions) {
    const leftMs = (server.endedAtMs ?? Date.now()) - atMs;
    const allowedMs = LAST_COMMITS_MS + LATE_TURNS * server.slowestMs;
    if (leftMs > allowedMs || (server.endedAtMs !== undefined && server.wasStopped)) {
      throw new BrokenPromise(
        `the books have as undelivered what a client got ${leftMs} ms before the end of the process (${Math.round(server.slowestMs)} ms for its slowest answer): ${shown(sale)}`,
      );
    }
    counts.longestMs = Math.max(counts.longestMs, leftMs);
  }
  counts.undeliveredThoughDelivered++;
  if (receptions.some(({ server, atMs }) => (server.endedAtMs ?? Date.now()) - atMs > LAST_COMMITS_MS)) counts.late++;
}

/** Its client cut the request so long before the settlement that the server must have noticed; later requests were refused. */
function wasCutBefore(harness: CrashHarness, { nonce, identifier, unansweredCount, cutAtMs }: Authorization): boolean {
  const answeredAtMs = harness.facilitator?.movementOf(nonce)?.answeredAtMs;
  if (identifier !== undefined || unansweredCount > 0 || cutAtMs === undefined || answeredAtMs === undefined)
    return false;
  return answeredAtMs - cutAtMs > CUT_NOTICED_MS;
}

interface Sum {
  sales: number;
  amount: number;
  undelivered: number;
}

/** The days, and with play money the ledger, add up to the sales. */
function compareSums(folder: string, sales: readonly SaleLine[]): void {
  const days = new Map<string, Sum>();
  const spent = new Map<string, number>();
  for (const { time, settlement, network, operation, amount_atomic, payer, delivered } of sales) {
    const name = `${time.slice(0, 10)} ${settlement} ${network} ${operation}`;
    const sum = days.get(name) ?? { sales: 0, amount: 0, undelivered: 0 };
    days.set(name, sum);
    sum.sales++;
    sum.amount += Number(amount_atomic);
    if (!delivered) sum.undelivered++;
    if (settlement === 'local')
      spent.set(payer.toLowerCase(), (spent.get(payer.toLowerCase()) ?? 0) + Number(amount_atomic));
  }
  const database = new DatabaseSync(join(folder, 'state.db'), { readOnly: true });
  const dayRows = database.prepare('SELECT * FROM sale_day').all() as unknown as readonly (Sum & SaleDayName)[];
  const spentRows = database.prepare('SELECT payer, atomic FROM spent').all() as { payer: string; atomic: number }[];
  database.close();
  compareMaps(
    'the days of the books',
    new Map([...days].map(([name, sum]) => [name, JSON.stringify(sum)])),
    new Map(
      dayRows.map(({ day, settlement, network, operation, sales: count, amount, undelivered }) => [
        `${day} ${settlement} ${network} ${operation}`,
        JSON.stringify({ sales: count, amount, undelivered } satisfies Sum),
      ]),
    ),
  );
  compareMaps('the play ledger', spent, new Map(spentRows.map(({ payer, atomic }) => [payer.toLowerCase(), atomic])));
}

interface SaleDayName {
  readonly day: string;
  readonly settlement: string;
  readonly network: string;
  readonly operation: string;
}

function compareMaps<Value>(what: string, books: ReadonlyMap<string, Value>, other: ReadonlyMap<string, Value>): void {
  for (const name of new Set([...books.keys(), ...other.keys()])) {
    if (books.get(name) === other.get(name)) continue;
    throw new BrokenPromise(`${what}: ${name} is ${other.get(name)}, and the sales say ${books.get(name)}`);
  }
}
