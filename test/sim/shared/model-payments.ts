/** What the statements about payments mean: claims, cases, sales and the play ledger (src/storage/postgres). */
import { RETENTION_SECONDS } from '../../../src/payment/reservations.ts';
import type { Row } from '../../../src/storage/postgres/connections.ts';
import { DEAD, INTENDED, RESERVED } from '../../../src/storage/postgres/tables/payments.ts';
import type { Meaning, Meanings, Processes } from './model.ts';
import type { IdentifierTable } from './model-identifiers.ts';

export interface ClaimRow {
  readonly key: string;
  readonly serial: number;
  readonly owner: string;
  readonly attempt: number;
  readonly validBefore: number;
  state: number;
  transaction: string;
}

export interface CaseRow {
  readonly serial: number;
  owner: string;
  readonly settlement: string;
  isUnknown: boolean;
  isRefused: boolean;
  transaction: string;
  readonly terms: string;
  readonly sale: string;
}

export interface SaleRow {
  readonly serial: number;
  /** Hexadecimal, as `hexOfKey` writes it. */
  readonly key: string;
  readonly timeMs: number;
  readonly amount: string;
  readonly network: string;
  readonly payer: string;
  readonly nonce: string;
  readonly transaction: string;
  readonly settlement: string;
  readonly facts: string;
  isDelivered: boolean;
}

/** How a statement treats rows of living processes, for the invariants. */
export interface PaymentWatch {
  /** What the dead left is looked for. */
  onSearch(by: string): void;
  /** A case changes its owner. */
  onTakenOver(found: CaseRow, by: string): void;
  /** A claim without an intent is removed by another than its owner. */
  onClaimRemoved(claim: ClaimRow): void;
  /** A case ends as dead. @param key hexadecimal */
  onEndedDead(key: string): void;
  /** The play ledger moves money. @param key hexadecimal */
  onMoved(key: string): void;
}

/** A statement's parameters: arrays of columns, as they come. */
type Columns = readonly unknown[];

/** Number of the table of claims. */
export const MODEL_CLAIMS = 1;

const numbers = (value: unknown): readonly number[] => value as readonly number[];
const texts = (value: unknown): readonly string[] => value as readonly string[];

/** $n of {@link Columns}. */
const at = (columns: Columns, n: number): unknown => columns[n - 1];

/** For how long, and from when, a statement keeps identifiers: $n of {@link Columns} is the process's time. */
const KEPT_FORM = /kept_until_ms = greatest\(paygrade\.now_ms\(\), \$([0-9]+)::bigint\) \+ ([0-9]+)/;

export class PaymentTables {
  readonly claims = new Map<number, ClaimRow>();
  readonly cases = new Map<number, CaseRow>();
  readonly sales = new Map<number, SaleRow>();
  /** Sales by the keys of their authorizations. */
  readonly salesByKey = new Map<string, SaleRow[]>();
  readonly spent = new Map<string, bigint>();
  readonly transfers = new Map<string, number>();
  /** Sales whose delivery is not on record. */
  readonly #undelivered = new Map<number, SaleRow>();
  readonly meanings: Meanings;
  /** Whose statement is carried out. */
  actor = '';
  watch: PaymentWatch = { onSearch() {}, onTakenOver() {}, onClaimRemoved() {}, onEndedDead() {}, onMoved() {} };
  readonly #byKey = new Map<string, ClaimRow[]>();
  readonly #nowMs: () => number;
  readonly #processes: Processes;
  readonly #identifiers: IdentifierTable;
  #lastSerial = 0;

  constructor(nowMs: () => number, processes: Processes, identifiers: IdentifierTable) {
    this.#nowMs = nowMs;
    this.#processes = processes;
    this.#identifiers = identifiers;
    this.meanings = {
      claim: (values, text) => this.#claim(values, text),
      'find-claim': (values) => this.#find(values),
      'remove-claim': (values) => this.#remove(values),
      'release-claim': (values) => this.#release(values),
      'free-stray-claims': (values) => this.#freeStrays(values),
      'prune-claims': ([serial]) => this.#prune(serial as unknown as number),
      'record-intent': (values) => this.#intend(values),
      'record-settled': (values, text) => this.#settle(values, text),
      'mark-unknown': (values) => this.#markUnknown(values),
      'release-case': (values, text) => this.#releaseCases(values, text),
      'end-dead': (values, text) => this.#endDead(values, text),
      'mark-delivered': ([serials]) => this.#markDelivered(numbers(serials)),
      'count-undelivered': ([ageMs]) => this.#countUndelivered(ageMs as unknown as number),
      'hold-case': (values) => this.#findCase(values),
      'find-sale': ([key]) => this.#findSale(key as unknown as string),
      'prune-sales': ([keptMs]) => this.#pruneSales(keptMs as unknown as number),
      transfer: (values) => this.#transfer(values),
      'prune-transfers': (_, text) => this.#pruneTransfers(text),
    };
  }

  unnamed(text: string): Meaning | undefined {
    if (text.includes('count(*) AS count FROM paygrade.claims')) return () => this.#count();
    if (text.includes('UPDATE paygrade.cases k SET owner')) return (values) => this.#takeOver(values);
    return undefined;
  }

  /** The claim of a key; hexadecimal. */
  claimOf(key: string): ClaimRow | undefined {
    return this.#byKey.get(key)?.[0];
  }

  caseOf(key: string): CaseRow | undefined {
    for (const { serial } of this.#byKey.get(key) ?? []) {
      const found = this.cases.get(serial);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The unique key decides, if the statement and the table have one. Each row that is proposed takes a serial. */
  #claim(columns: Columns, text: string): Row[] {
    const hasUniqueKey = text.includes('ON CONFLICT (key) DO NOTHING');
    const [owner, keys, attempts, validBefores] = columns;
    const rows: Row[] = [];
    for (const [i, key] of texts(keys).entries()) {
      const serial = ++this.#lastSerial;
      if (hasUniqueKey && this.#byKey.has(key)) continue;
      const attempt = numbers(attempts)[i] as number;
      const validBefore = numbers(validBefores)[i] as number;
      const claim = { key, serial, owner: owner as string, attempt, validBefore, state: RESERVED, transaction: '' };
      this.claims.set(serial, claim);
      const others = this.#byKey.get(key);
      if (others === undefined) this.#byKey.set(key, [claim]);
      else others.push(claim);
      rows.push({ key, serial, claims: MODEL_CLAIMS });
    }
    return rows;
  }

  #drop(claim: ClaimRow): void {
    this.claims.delete(claim.serial);
    const left = this.#byKey.get(claim.key)?.filter((one) => one !== claim) ?? [];
    if (left.length === 0) this.#byKey.delete(claim.key);
    else this.#byKey.set(claim.key, left);
  }

  #isOver(claim: ClaimRow, removableSerial: number): boolean {
    const nowSeconds = Math.floor(this.#nowMs() / 1000);
    return claim.serial <= removableSerial && claim.validBefore + RETENTION_SECONDS < nowSeconds;
  }

  #find([keys, removableSerial]: Columns): Row[] {
    return texts(keys).map((key): Row => {
      const claim = this.claimOf(key);
      const open = claim && this.cases.get(claim.serial);
      const sale = claim && this.sales.get(claim.serial);
      const isReserved = claim?.state === RESERVED;
      return {
        serial: claim?.serial ?? null,
        claims: claim === undefined ? null : MODEL_CLAIMS,
        owner: claim?.owner ?? null,
        attempt: claim?.attempt ?? null,
        state: claim?.state ?? null,
        dead_transaction: claim?.transaction ?? null,
        case_serial: open?.serial ?? null,
        is_unknown: open?.isUnknown ?? null,
        case_transaction: open?.transaction ?? null,
        sale_transaction: sale?.transaction ?? null,
        is_abandoned: claim === undefined ? null : isReserved && this.#processes.isDead(claim.owner),
        is_over:
          claim === undefined
            ? null
            : !isReserved && open === undefined && this.#isOver(claim, removableSerial as number),
      };
    });
  }

  #remove([keys, serials, states]: Columns): Row[] {
    for (const [i, key] of texts(keys).entries()) {
      const claim = this.claims.get(numbers(serials)[i] as number);
      if (claim === undefined || claim.key !== key || claim.state !== numbers(states)[i]) continue;
      if (claim.state === RESERVED && claim.owner !== this.actor) this.watch.onClaimRemoved(claim);
      this.#drop(claim);
    }
    return [];
  }

  #release([owner, keys, attempts]: Columns): Row[] {
    for (const [i, key] of texts(keys).entries()) {
      for (const claim of this.#byKey.get(key) ?? []) {
        const isIts = claim.owner === owner && claim.attempt === numbers(attempts)[i] && claim.state === RESERVED;
        if (isIts) this.#drop(claim);
      }
    }
    return [];
  }

  #freeStrays([owner, lastAttempt, live]: Columns): Row[] {
    for (const claim of this.claims.values()) {
      const isStray = claim.attempt <= (lastAttempt as number) && !numbers(live).includes(claim.attempt);
      if (claim.owner === owner && claim.state === RESERVED && isStray) this.#drop(claim);
    }
    return [];
  }

  #count(): Row[] {
    let count = 0;
    for (const { state, owner } of this.claims.values()) {
      if (!(state === RESERVED && this.#processes.isDead(owner))) count++;
    }
    return [{ count }];
  }

  #prune(removableSerial: number): Row[] {
    const over = [...this.claims.values()].filter(
      (claim) =>
        this.#isOver(claim, removableSerial) &&
        (claim.state !== RESERVED || this.#processes.isDead(claim.owner)) &&
        !this.cases.has(claim.serial),
    );
    for (const claim of over) this.#drop(claim);
    return over.map(({ serial }) => ({ serial }));
  }

  #intend(columns: Columns): Row[] {
    const owner = at(columns, 1) as string;
    const settlement = at(columns, 2) as string;
    const keys = texts(at(columns, 3));
    const serials = numbers(at(columns, 4));
    const attempts = numbers(at(columns, 5));
    const names = numbers(at(columns, 8)).map((serial, i) => {
      const digest = texts(at(columns, 9))[i] as string;
      return { serial, digest, sealed: texts(at(columns, 10))[i] as string };
    });
    const isHeld = new Map(
      names.map((name) => {
        const attempt = attempts[serials.indexOf(name.serial)] as number;
        return [name, this.#identifiers.isHeld(name.digest, owner, attempt)];
      }),
    );
    const rows: Row[] = [];
    for (const [i, serial] of serials.entries()) {
      const claim = this.claims.get(serial);
      const attempt = attempts[i];
      const ours = names.filter((name) => name.serial === serial);
      const before = this.cases.get(serial);
      if (before?.owner === owner) rows.push({ serial });
      if (claim === undefined || claim.key !== keys[i] || claim.owner !== owner) continue;
      if (claim.attempt !== attempt || claim.state !== RESERVED) continue;
      if (!ours.every((name) => isHeld.get(name) === true)) continue;
      for (const name of ours) this.#identifiers.name(name);
      claim.state = INTENDED;
      const terms = texts(at(columns, 6))[i] as string;
      const sale = texts(at(columns, 7))[i] as string;
      this.cases.set(serial, {
        serial,
        owner,
        settlement,
        isUnknown: false,
        isRefused: false,
        transaction: '',
        terms,
        sale,
      });
      rows.push({ serial });
    }
    return rows;
  }

  #keptUntilMs(columns: Columns, text: string): number {
    const [, place, keptMs] = KEPT_FORM.exec(text) as unknown as [string, string, string];
    return Math.max(this.#nowMs(), at(columns, Number(place)) as number) + Number(keptMs);
  }

  #settle(columns: Columns, text: string): Row[] {
    const keptUntilMs = this.#keptUntilMs(columns, text);
    const rows: Row[] = [];
    const column = (n: number, i: number): string => texts(at(columns, n))[i] as string;
    for (const [i, serial] of numbers(at(columns, 2)).entries()) {
      this.cases.delete(serial);
      if (this.sales.has(serial)) continue;
      const sale: SaleRow = {
        serial,
        key: column(3, i),
        timeMs: this.#nowMs(),
        amount: column(6, i),
        network: column(7, i),
        payer: column(8, i),
        nonce: column(9, i),
        transaction: column(4, i),
        settlement: at(columns, 1) as string,
        facts: column(10, i),
        isDelivered: false,
      };
      this.sales.set(serial, sale);
      this.salesByKey.set(sale.key, [...(this.salesByKey.get(sale.key) ?? []), sale]);
      this.#undelivered.set(serial, sale);
      this.#identifiers.keep(serial, keptUntilMs, sale.transaction);
      rows.push({ serial });
    }
    return rows;
  }

  #markUnknown([serials, transactions, refusals]: Columns): Row[] {
    return numbers(serials).flatMap((serial, i) => {
      const found = this.cases.get(serial);
      if (found === undefined) return [];
      found.isUnknown = true;
      found.isRefused ||= (refusals as readonly boolean[])[i] as boolean;
      found.transaction = texts(transactions)[i] || found.transaction;
      return [{ serial }];
    });
  }

  /** False when it is not there, or not this process's. */
  #endCase(serial: number, owner: unknown): boolean {
    return this.cases.get(serial)?.owner === owner && this.cases.delete(serial);
  }

  #releaseCases([owner, serials]: Columns, text: string): Row[] {
    const freesIdentifiers = text.includes('DELETE FROM paygrade.identifiers');
    return numbers(serials).flatMap((serial) => {
      const claim = this.claims.get(serial);
      const isEnded = this.#endCase(serial, owner);
      if (isEnded && claim !== undefined) this.#drop(claim);
      if (isEnded && freesIdentifiers) this.#identifiers.free(serial);
      return isEnded || (claim === undefined && !this.cases.has(serial)) ? [{ serial }] : [];
    });
  }

  #endDead(columns: Columns, text: string): Row[] {
    const [owner, serials, transactions] = columns;
    const freesIdentifiers = text.includes('DELETE FROM paygrade.identifiers');
    return numbers(serials).flatMap((serial, i) => {
      const claim = this.claims.get(serial);
      const wasDead = claim?.state === DEAD;
      const isEnded = this.#endCase(serial, owner);
      if (isEnded && claim !== undefined) {
        claim.state = DEAD;
        claim.transaction = texts(transactions)[i] as string;
        this.watch.onEndedDead(claim.key);
      }
      if (isEnded && freesIdentifiers) this.#identifiers.free(serial);
      else if (isEnded) this.#identifiers.keep(serial, this.#keptUntilMs(columns, text));
      return isEnded || wasDead ? [{ serial }] : [];
    });
  }

  #takeOver([owner, settlement, live]: Columns): Row[] {
    const by = owner as string;
    this.watch.onSearch(by);
    const mine = new Set(numbers(live));
    const taken = [...this.cases.values()].filter(
      (found) =>
        found.settlement === settlement &&
        !mine.has(found.serial) &&
        (this.#processes.isDead(found.owner) || found.owner === by),
    );
    for (const found of taken) {
      if (found.owner !== by) this.watch.onTakenOver(found, by);
      found.owner = by;
      found.isUnknown = true;
    }
    return taken
      .sort((a, b) => a.serial - b.serial)
      .flatMap(({ serial, terms, sale, transaction, isRefused }) => {
        const attempt = this.claims.get(serial)?.attempt;
        return attempt === undefined ? [] : [{ serial, terms, sale, transaction, is_refused: isRefused, attempt }];
      });
  }

  #markDelivered(serials: readonly number[]): Row[] {
    for (const serial of serials) {
      const sale = this.sales.get(serial);
      if (sale !== undefined) sale.isDelivered = true;
      this.#undelivered.delete(serial);
    }
    return [];
  }

  #countUndelivered(ageMs: number): Row[] {
    const beforeMs = this.#nowMs() - ageMs;
    return [{ count: [...this.#undelivered.values()].filter(({ timeMs }) => timeMs <= beforeMs).length }];
  }

  #findCase([serial, owner]: Columns): Row[] {
    return this.cases.get(serial as number)?.owner === owner ? [{ serial: serial as number }] : [];
  }

  #findSale(key: string): Row[] {
    const sale = this.salesByKey.get(key)?.at(-1);
    if (sale === undefined) return [];
    const { timeMs, isDelivered, key: _key, ...columns } = sale;
    return [{ ...columns, time_ms: timeMs, is_delivered: isDelivered }];
  }

  #pruneSales(keptMs: number): Row[] {
    const beforeMs = this.#nowMs() - keptMs;
    // Sales enter in the order of their times; the oldest stands first.
    const [first] = this.sales.values();
    if (first !== undefined && first.timeMs < beforeMs) throw new Error('a run that keeps sales for so long');
    return [];
  }

  #transfer([opening, keys, payers, amounts, validAfters, validBefores]: Columns): Row[] {
    const nowSeconds = Math.floor(this.#nowMs() / 1000);
    const judged = texts(keys).map((key, i) => {
      const isThere = this.transfers.has(key);
      const validBefore = numbers(validBefores)[i] as number;
      const verdict =
        isThere && this.caseOf(key) !== undefined
          ? 'moved'
          : nowSeconds <= (numbers(validAfters)[i] as number)
            ? 'early'
            : nowSeconds >= validBefore
              ? 'late'
              : isThere
                ? 'used'
                : undefined;
      return {
        key,
        payer: texts(payers)[i] as string,
        amount: BigInt(texts(amounts)[i] as string),
        validBefore,
        verdict,
      };
    });
    const sums = new Map<string, bigint>();
    for (const { payer, amount, verdict } of judged) {
      if (verdict === undefined) sums.set(payer, (sums.get(payer) ?? 0n) + amount);
    }
    const debited = new Set<string>();
    for (const [payer, sum] of sums) {
      const spent = (this.spent.get(payer) ?? 0n) + sum;
      if (spent > BigInt(opening as string)) continue;
      this.spent.set(payer, spent);
      debited.add(payer);
    }
    return judged.map(({ key, payer, validBefore, verdict }) => {
      if (verdict !== undefined) return { verdict };
      if (!debited.has(payer)) return { verdict: 'short' };
      this.transfers.set(key, validBefore);
      this.watch.onMoved(key);
      return { verdict: 'moved' };
    });
  }

  #pruneTransfers(text: string): Row[] {
    const sparesClaims = text.includes('NOT EXISTS (SELECT FROM paygrade.claims');
    const beforeSeconds = Math.floor(this.#nowMs() / 1000) - 3600;
    const over = [...this.transfers].filter(
      ([key, validBefore]) => validBefore < beforeSeconds && !(sparesClaims && this.#byKey.has(key)),
    );
    for (const [key] of over) this.transfers.delete(key);
    return over.map(([key]) => ({ key: Buffer.from(key, 'hex') }));
  }
}
