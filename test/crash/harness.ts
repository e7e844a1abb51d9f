/**
 * The harness around one server under test: its state folder, the process that runs on it, a facilitator where the
 * settlement needs one, and a client for every operation. The client checks each answer against the oracle as it arrives.
 * Requests that a kill cuts off are left to the audit (audit.ts).
 */
import { request as httpRequest } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { PrivateKeyAccount } from 'viem/accounts';
import { privateKeyToAccount } from 'viem/accounts';
import { BASE } from '../../src/payment/protocol/network.ts';
import { reservationKeyOf } from '../../src/payment/protocol/order.ts';
import type { Chance } from '../support/chance.ts';
import type { Runtime } from '../support/server.ts';
import { decodeHeader, encodeHeader, type PaymentRequired, paymentFor } from '../support/wallet.ts';
import { ADMIN_TOKEN, ChargeNotes } from './charges.ts';
import { CountingFacilitator, type Stage as FacilitatorStage, hashOf } from './facilitator.ts';
import {
  type Authorization,
  BrokenPromise,
  type Callback,
  type Identifier,
  isSamePurchase,
  isUsable,
  nameOf,
  Oracle,
  type SentWebhook,
  transactionOf,
} from './oracle.ts';
import { ServerProcess } from './server-process.ts';
import { ARMED_FILE_VARIABLE } from './steps.ts';

export const SETTLEMENTS = ['local', 'facilitator'] as const;
export type SettlementKind = (typeof SETTLEMENTS)[number];

/** Moments at which a kill can be aimed. */
export type Stage =
  | FacilitatorStage
  /** The head of a paid answer has arrived. */
  | 'answer-begun'
  | 'paid'
  | 'created'
  | 'webhook-written'
  | 'webhook-acknowledged'
  | 'deletion-sent'
  | 'deletion-acknowledged'
  | 'charged';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** undefined: the server was killed before the body was complete. */
  readonly text: string | undefined;
}

/** The paid operations that the clients buy. */
const PAID_OPERATIONS = [
  { method: 'GET', path: '/v1/jobs/search?limit=1', operation: 'searchJobs', valueAtomic: 20_000 },
  { method: 'GET', path: '/v1/jobs/signals?limit=1', operation: 'findSignals', valueAtomic: 90_000 },
  { method: 'POST', path: '/v1/callbacks', operation: 'createCallback', valueAtomic: 10_000 },
] as const;
export const JOBS_OPERATIONS = PAID_OPERATIONS.slice(0, 2);
export const CALLBACK_CREATION = PAID_OPERATIONS[2];
export type PaidOperation = (typeof PAID_OPERATIONS)[number];

const BASE_URL = 'https://shop.example';
/** Enough for every purchase of a run: the audit checks what the ledger spent, not what it refuses. */
const LOCAL_BALANCE = '1000000000000';
const PAY_TO = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C';
const PAYER_COUNT = 8;
/** By then a process that has killed itself is seen to have ended. */
const END_SEEN_MS = 10_000;
/** A client asks this long for an answer that the server sheds. */
const SHED_MS_MAX = 600_000;
const SHED_PAUSE_MS = 250;
/** Why a server makes no offer for a while: besides the usual, a disk that is slow on a busy machine (reliability 268). */
const NO_OFFER = ['OVERLOADED', 'SETTLEMENT_UNAVAILABLE'];
/** How long a client that cuts its connection waits for the answer at most. */
const CUT_AFTER_MS_MAX = 40;

export interface HarnessOptions {
  readonly runtime: Runtime;
  readonly settlement: SettlementKind;
  readonly stateDir: string;
  readonly entry: string;
  readonly chance: Chance;
}

export class CrashHarness {
  readonly options: HarnessOptions;
  readonly oracle = new Oracle();
  readonly facilitator: CountingFacilitator | undefined;
  readonly payers: readonly PrivateKeyAccount[];
  readonly charges = new ChargeNotes((path, init) => this.ask(path, init));
  /** Number of answers of all server processes by operation, status and code; `lost` counts requests without an answer. */
  readonly outcomes = new Map<string, number>();
  onStage: (stage: Stage) => void = () => {};
  cycle = 0;
  /** Names the step at which an instrumented server kills itself (steps.ts); without the file it lives. */
  readonly armedFile: string;
  #server: ServerProcess | undefined;
  #url = '';
  #payTo: string | undefined;
  readonly #offers = new Map<string, PaymentRequired>();

  constructor(options: HarnessOptions) {
    this.options = options;
    this.armedFile = `${options.stateDir}.armed`;
    const { chance, settlement } = options;
    this.payers = Array.from({ length: PAYER_COUNT }, (_, i) =>
      privateKeyToAccount(`0x${chance.named('payer', i).hex(32)}`),
    );
    if (settlement === 'facilitator') {
      this.facilitator = new CountingFacilitator(chance);
      this.facilitator.onStage = (stage) => this.onStage(stage);
    }
  }

  async open(): Promise<this> {
    await this.facilitator?.listen();
    return this;
  }

  async close(): Promise<void> {
    this.#server?.kill();
    await this.#server?.exited;
    await this.facilitator?.close();
  }

  /** Starts a new process on the folder; it does not listen yet. */
  start(): ServerProcess {
    const { runtime, entry, stateDir } = this.options;
    this.#server = new ServerProcess(runtime, entry, {
      STATE_DIR: stateDir,
      BASE_URL,
      ADMIN_TOKEN,
      KEY_RATE_LIMIT_PER_MINUTE: '0',
      [ARMED_FILE_VARIABLE]: this.armedFile,
      ...(this.facilitator === undefined
        ? { LOCAL_BALANCE }
        : { SETTLEMENT: 'facilitator', FACILITATOR_URL: this.facilitator.url, PAY_TO }),
    });
    return this.#server;
  }

  /** Starts a process, waits until it listens, and reads its offers. @throws BrokenPromise */
  async startAndCheck(): Promise<ServerProcess> {
    const server = this.start();
    const url = await server.listening;
    if (url === undefined) throw new BrokenPromise(`the server does not start:\n${server.output}`);
    this.#url = url;
    this.#offers.clear();
    const ready = await this.ask('/ready');
    if (ready?.status !== 200 && this.facilitator === undefined) {
      throw new BrokenPromise(`not ready after a restart: ${ready?.text}\n${server.output}`);
    }
    await this.charges.open();
    for (const { method, path } of PAID_OPERATIONS) {
      const answer = await this.#askPatiently(path, { method }, NO_OFFER);
      if (answer?.status !== 402) throw new BrokenPromise(`no offer for ${path}: ${answer?.status} ${answer?.text}`);
      const offer = decodeHeader<PaymentRequired>(answer.headers.get('payment-required'));
      const payTo = offer.accepts[0]?.payTo;
      this.#payTo ??= payTo;
      if (this.#payTo !== payTo) throw new BrokenPromise(`the recipient was ${this.#payTo} and is now ${payTo}`);
      this.#offers.set(path, offer);
    }
    return server;
  }

  get server(): ServerProcess {
    if (this.#server === undefined) throw new Error('no server was started');
    return this.#server;
  }

  /** One request; undefined when the server was killed before it answered. */
  async ask(path: string, init: RequestInit = {}): Promise<Answer | undefined> {
    const { server } = this;
    const startMs = performance.now();
    let response: Response;
    try {
      response = await fetch(this.#url + path, { redirect: 'manual', ...init });
    } catch (failure) {
      return this.#lost(failure);
    } finally {
      if (!path.includes('/wait')) server.slowestMs = Math.max(server.slowestMs, performance.now() - startMs);
    }
    const { status, headers } = response;
    if (headers.has('payment-response') && response.ok) this.onStage('answer-begun');
    const text = await response.text().catch(() => undefined);
    return { status, headers, text };
  }

  /** Like {@link ask}, and again while a busy machine makes the server shed work, which charges nothing. */
  async #askPatiently(path: string, init: RequestInit, shed = ['OVERLOADED']): Promise<Answer | undefined> {
    const untilMs = performance.now() + SHED_MS_MAX;
    for (;;) {
      const answer = await this.ask(path, init);
      const isShed = answer?.status === 503 && shed.includes(codeOf(answer));
      if (!isShed || performance.now() > untilMs) return answer;
      this.#count('shed');
      await pause(SHED_PAUSE_MS);
    }
  }

  /** The body of a 200; undefined for anything else. */
  async bytesOf(path: string, headers: Record<string, string>): Promise<Buffer | undefined> {
    const response = await fetch(this.#url + path, { headers });
    const bytes = Buffer.from(await response.arrayBuffer());
    return response.status === 200 ? bytes : undefined;
  }

  async #lost(failure: unknown): Promise<undefined> {
    const { server } = this;
    if (!server.hasEnded) await Promise.race([server.exited, pause(END_SEEN_MS, undefined, { ref: false })]);
    if (!server.hasEnded) {
      throw new BrokenPromise(
        `a connection broke and the server had not been killed: ${String(failure)}\n${this.server.output}`,
      );
    }
    this.#count('lost');
    return undefined;
  }

  #count(outcome: string): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
  }

  #counted(operation: string, answer: Answer): string {
    const code = codeOf(answer);
    this.#count(code === '' ? `${operation} ${answer.status}` : `${operation} ${answer.status} ${code}`);
    return code;
  }

  /** A payment identifier that nothing was bought under yet. */
  identifier(chance: Chance): Identifier {
    const identifier: Identifier = {
      id: `crash_${chance.hex(16)}`,
      bornMs: Date.now(),
      cycle: this.cycle,
      authorizations: [],
      charged: undefined,
      text: undefined,
    };
    this.oracle.identifiers.push(identifier);
    return identifier;
  }

  /** Another authorization for the purchase of one that has an identifier. */
  signAgain({ path, payer, identifier }: Authorization, chance: Chance): Promise<Authorization> {
    const operation = PAID_OPERATIONS.find((one) => one.path === path) as PaidOperation;
    const account = this.payers.find(({ address }) => address === payer);
    return this.sign(operation, chance, identifier, account);
  }

  /** A new authorization for one of the operations, not yet sent. */
  async sign(
    operation: PaidOperation,
    chance: Chance,
    identifier?: Identifier,
    payer: PrivateKeyAccount = chance.pick(this.payers),
  ): Promise<Authorization> {
    const { method, path, valueAtomic } = operation;
    const offer = this.#offers.get(path);
    if (offer === undefined) throw new Error(`no offer for ${path}`);
    const payment = await paymentFor(offer, payer, { authorization: { nonce: `0x${chance.hex(32)}` } });
    const { nonce, value, validBefore } = payment.payload.authorization;
    if (Number(value) !== valueAtomic) throw new Error(`${path} costs ${value}, not ${valueAtomic}`);
    const authorization: Authorization = {
      nonce,
      payer: payer.address,
      valueAtomic,
      validBeforeSeconds: Number(validBefore),
      header: encodeHeader(identifier === undefined ? payment : { ...payment, extensions: named(offer, identifier) }),
      method,
      path,
      operation: operation.operation,
      transaction: this.facilitator === undefined ? playHashOf(payer.address, nonce) : hashOf(nonce),
      identifier,
      cycle: this.cycle,
      sentCount: 0,
      inFlightCount: 0,
      unansweredCount: 0,
      successCount: 0,
      receipt: undefined,
      isSettled: false,
      requestId: undefined,
      receptions: [],
      cutCount: 0,
      cutAtMs: undefined,
    };
    this.oracle.add(authorization);
    return authorization;
  }

  /** Sends a request with the authorization, which may have been sent before. @throws BrokenPromise */
  async pay(authorization: Authorization): Promise<Answer | undefined> {
    const { method, path, header } = authorization;
    const known = authorization.identifier?.charged;
    authorization.sentCount++;
    authorization.inFlightCount++;
    const answer = await this.#askPatiently(path, { method, headers: { 'PAYMENT-SIGNATURE': header } });
    authorization.inFlightCount--;
    if (answer === undefined) authorization.unansweredCount++;
    else this.#check(authorization, answer, known);
    return answer;
  }

  /** Sends the request and cuts the connection: some time later, or as soon as the head of the answer is there. */
  async payAndCut(authorization: Authorization, chance: Chance): Promise<void> {
    const { method, path, header, identifier } = authorization;
    const known = identifier?.charged;
    authorization.sentCount++;
    authorization.inFlightCount++;
    // Which sale the answer would have belonged to is not known: it may be any of the identifier's.
    for (const one of identifier?.authorizations ?? [authorization]) one.cutCount++;
    const answer = await this.#askAndCut(method, path, header, chance.below(CUT_AFTER_MS_MAX));
    authorization.inFlightCount--;
    authorization.cutAtMs = Date.now();
    this.#count('cut');
    if (answer !== undefined) this.#check(authorization, answer, known);
  }

  #askAndCut(method: string, path: string, header: string, afterMs: number): Promise<Answer | undefined> {
    return new Promise((resolve) => {
      const headers = { 'PAYMENT-SIGNATURE': header, 'content-length': '0' };
      const request = httpRequest(this.#url + path, { method, agent: false, headers });
      const cut = (answer?: Answer): void => {
        clearTimeout(timer);
        request.destroy();
        resolve(answer);
      };
      const timer = setTimeout(cut, afterMs);
      request.on('error', () => cut());
      request.on('response', (response) => {
        const head = new Headers(Object.entries(response.headers).map(([name, value]) => [name, String(value)]));
        if (head.has('payment-response') && response.statusCode === 200) this.onStage('answer-begun');
        cut(response.statusCode! < 400 ? { status: response.statusCode!, headers: head, text: undefined } : undefined);
      });
      request.end();
    });
  }

  /** What the server must answer under an identifier whose charge was known before the request left. @throws BrokenPromise */
  #checkKnown(authorization: Authorization, { status, text }: Answer, code: string, charged: Authorization): void {
    if (authorization === charged || !isUsable(authorization)) return;
    const isSame = isSamePurchase(authorization, charged);
    if (isSame ? status < 300 : code === 'PAYMENT_IDENTIFIER_CONFLICT') return;
    const what = isSame ? 'asks for the answer of' : 'uses the identifier of';
    throw new BrokenPromise(`${nameOf(authorization)} ${what} ${nameOf(charged)}: ${status} ${text}`);
  }

  /** Another purchase with its identifier was sent that is another question, or of another payer. */
  #mayConflict(authorization: Authorization): boolean {
    const others = authorization.identifier?.authorizations ?? [];
    return others.some((one) => one.sentCount > 0 && !isSamePurchase(one, authorization));
  }

  /** The same purchase was sent with another authorization. */
  #mayBeUnderWay(authorization: Authorization): boolean {
    const others = authorization.identifier?.authorizations ?? [];
    return others.some((one) => one !== authorization && one.sentCount > 0 && isSamePurchase(one, authorization));
  }

  /** @throws BrokenPromise when the server may not give this answer */
  #check(authorization: Authorization, answer: Answer, known: Authorization | undefined): void {
    const { status, headers } = answer;
    const code = this.#counted(authorization.path === CALLBACK_CREATION.path ? 'create' : 'jobs', answer);
    const receipt = headers.get('payment-response');
    const movement = this.facilitator?.movementOf(authorization.nonce);
    const broken = (why: string): BrokenPromise =>
      new BrokenPromise(`${nameOf(authorization)} ${why}: ${status} ${answer.text} (${movement?.plan ?? 'local'})`);
    if (known !== undefined) this.#checkKnown(authorization, answer, code, known);
    switch (status) {
      case 200:
      case 201: {
        const charged = this.oracle.recordSuccess(authorization, receipt);
        if (charged === authorization) charged.requestId = headers.get('x-request-id') ?? undefined;
        if (answer.text !== undefined) {
          charged.receptions.push({ server: this.server, atMs: Date.now() });
          if (charged.identifier !== undefined) this.oracle.recordText(charged.identifier, answer.text);
        }
        this.#onRecord(charged);
        if (charged !== authorization) this.#count('kept answer');
        this.onStage('paid');
        return;
      }
      case 402: {
        if (code === 'PAYMENT_NOT_SETTLED' && movement?.plan === 'settle-refused') return;
        if (code === 'PAYMENT_INVALID' && movement?.plan === 'verify-refused') return;
        if (code === 'PAYMENT_INVALID' && !isUsable(authorization)) return;
        throw broken('is not accepted');
      }
      case 409: {
        if (code === 'PAYMENT_IDENTIFIER_CONFLICT') {
          if (!this.#mayConflict(authorization)) throw broken('is no other purchase');
          return;
        }
        if (authorization.sentCount === 1) throw broken('was used before it was sent');
        if (receipt !== null && transactionOf(receipt).success) {
          this.oracle.recordSettled(authorization, receipt);
          this.#onRecord(authorization);
        }
        return;
      }
      case 503: {
        if (code === 'SETTLEMENT_PENDING' && this.#mayBeUnderWay(authorization)) return;
        if (code === 'SETTLEMENT_PENDING' && movement !== undefined && movement.plan !== 'plain') return;
        if (code === 'SETTLEMENT_UNAVAILABLE' && receipt === null) return;
        throw broken('has no answer');
      }
      default:
        throw broken('has an answer of no use');
    }
  }

  /** The server said that this authorization is settled: the money must have moved exactly once. */
  #onRecord(authorization: Authorization): void {
    const { transaction } = transactionOf(authorization.receipt ?? '');
    if (this.facilitator === undefined) return;
    const movement = this.facilitator.movementOf(authorization.nonce);
    if (movement === undefined || movement.movedCount !== 1) {
      throw new BrokenPromise(
        `${nameOf(authorization)} is settled, and the money moved ${movement?.movedCount ?? 0} times`,
      );
    }
    if (transaction !== hashOf(authorization.nonce))
      throw new BrokenPromise(`${nameOf(authorization)} has another receipt`);
    movement.isOnRecord = true;
  }

  /** The status that the server gives an authorization; undefined: the server was killed meanwhile. */
  async statusOf({ payer, nonce }: Authorization): Promise<{ state: string; transaction: string | null } | undefined> {
    const answer = await this.ask(`/v1/payments/eip155:8453/${payer}/${nonce}`);
    if (answer?.text === undefined) return undefined;
    if (answer.status === 404) return { state: 'free', transaction: null };
    if (answer.status !== 200) throw new BrokenPromise(`no status of ${nonce}: ${answer.status} ${answer.text}`);
    return JSON.parse(answer.text) as { state: string; transaction: string | null };
  }

  /** Pays for a callback; undefined when none was created, or when no answer says so. */
  async create(chance: Chance): Promise<Callback | undefined> {
    const answer = await this.pay(await this.sign(CALLBACK_CREATION, chance));
    if (answer?.status !== 201 || answer.text === undefined) return undefined;
    return this.recordCallback(answer.text);
  }

  /** Adds the callback of a 201 to the oracle. */
  recordCallback(text: string): Callback {
    const { id, read_token, expires_at } = JSON.parse(text) as { id: string; read_token: string; expires_at: string };
    const before = this.oracle.callbacks.find((one) => one.id === id);
    if (before !== undefined) return before; // an identifier gave the same answer again
    const callback: Callback = {
      id,
      readToken: read_token,
      expiresAt: expires_at,
      cycle: this.cycle,
      sent: [],
      shown: [],
      isDeletionSent: false,
      isDeleted: false,
    };
    this.oracle.callbacks.push(callback);
    this.onStage('created');
    return callback;
  }

  /** Sends one webhook of exactly these bytes. */
  async send(callback: Callback, bytes: Buffer, contentType: string, label: string): Promise<void> {
    const sent: SentWebhook = {
      label,
      bytes,
      contentType,
      sentAt: this.oracle.nextMoment(),
      receivedAt: undefined,
      eventId: undefined,
      isRefused: false,
    };
    callback.sent.push(sent);
    const answer = await this.#post(`/hooks/${callback.id}`, bytes, contentType);
    if (answer?.text === undefined) return;
    const code = this.#counted('webhook', answer);
    if (answer.status === 200) {
      sent.receivedAt = this.oracle.nextMoment();
      const { received, event_id } = JSON.parse(answer.text) as { received: boolean; event_id: string };
      if (!received) throw new BrokenPromise(`a webhook is 200 and not received: ${answer.text}`);
      sent.eventId = event_id;
      this.onStage('webhook-acknowledged');
      return;
    }
    sent.isRefused = code !== 'CALLBACK_NOT_FOUND';
    const isFull = code === 'CALLBACK_EVENT_LIMIT_REACHED' && callback.sent.length > EVENT_COUNT_MAX;
    const isGone = code === 'CALLBACK_NOT_FOUND' && callback.isDeletionSent;
    if (!isFull && !isGone && code !== 'RATE_LIMIT_EXCEEDED') {
      throw new BrokenPromise(`webhook ${label} of ${callback.id} is ${answer.status} ${answer.text}`);
    }
  }

  /** Uses node:http, which reports when the system has taken the last byte. */
  async #post(path: string, bytes: Buffer, contentType: string): Promise<Answer | undefined> {
    const { server } = this;
    const startMs = performance.now();
    const answer = await this.#posted(path, bytes, contentType);
    server.slowestMs = Math.max(server.slowestMs, performance.now() - startMs);
    return answer;
  }

  #posted(path: string, bytes: Buffer, contentType: string): Promise<Answer | undefined> {
    return new Promise((resolve, reject) => {
      const lose = (failure: unknown): void => {
        this.#lost(failure).then(resolve, reject);
      };
      const request = httpRequest(this.#url + path, {
        method: 'POST',
        agent: false,
        headers: { 'content-type': contentType, 'content-length': bytes.length },
      });
      request.on('error', lose);
      request.on('finish', () => this.onStage('webhook-written'));
      request.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('error', lose);
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({ status: response.statusCode ?? 0, headers: new Headers(), text });
        });
      });
      request.end(bytes);
    });
  }

  async remove(callback: Callback): Promise<void> {
    callback.isDeletionSent = true;
    const asked = this.ask(`/v1/callbacks/${callback.id}`, { method: 'DELETE', headers: bearer(callback) });
    setImmediate(() => this.onStage('deletion-sent'));
    const answer = await asked;
    if (answer === undefined) return;
    this.#counted('delete', answer);
    if (answer.status !== 200)
      throw new BrokenPromise(`the deletion of ${callback.id} is ${answer.status} ${answer.text}`);
    callback.isDeleted = true;
    this.onStage('deletion-acknowledged');
  }

  /** Asks for a page that costs credits. @throws BrokenPromise */
  async charge(chance: Chance): Promise<void> {
    const isAnswered = await this.charges.charge(chance);
    this.#count(isAnswered ? 'charge' : 'charge without an answer');
    if (isAnswered) this.onStage('charged');
  }

  /** Waits for the first event after `after`. An event that the answer shows must never disappear again. */
  async wait(callback: Callback, after: string | undefined): Promise<void> {
    const query = after === undefined ? 'timeout=1' : `timeout=1&after=${after}`;
    const answer = await this.ask(`/v1/callbacks/${callback.id}/wait?${query}`, { headers: bearer(callback) });
    if (answer?.text === undefined) return;
    const code = this.#counted('wait', answer);
    if (answer.status === 200) {
      const { received, event } = JSON.parse(answer.text) as { received: boolean; event?: { id: string } };
      if (!received || event === undefined) return;
      const index = after === undefined ? 0 : callback.shown.indexOf(after) + 1;
      const known = callback.shown[index];
      if (known !== undefined && known !== event.id) {
        throw new BrokenPromise(`${callback.id} shows ${event.id} where ${known} was`);
      }
      if (index === callback.shown.length) callback.shown = [...callback.shown, event.id];
      return;
    }
    if (code !== 'CALLBACK_NOT_FOUND' || !callback.isDeletionSent) {
      throw new BrokenPromise(`a wait on ${callback.id} is ${answer.status} ${answer.text}`);
    }
  }
}

const EVENT_COUNT_MAX = 10;

/** The extensions of a payment under an identifier, made from those of the offer. */
function named({ extensions }: PaymentRequired, { id }: Identifier): Record<string, unknown> {
  const declared = extensions?.['payment-identifier'] as { info: object } | undefined;
  if (declared === undefined) throw new BrokenPromise('the offer has no payment identifier');
  return { 'payment-identifier': { ...declared, info: { ...declared.info, id } } };
}

/** The hash that settlement `local` gives a transfer. */
const playHashOf = (payer: string, nonce: string): string =>
  `0x${'0'.repeat(32)}${Buffer.from(reservationKeyOf(BASE, payer, nonce), 'latin1').toString('hex')}`;

export const bearer = ({ readToken }: Callback): Record<string, string> => ({ authorization: `Bearer ${readToken}` });

/** The code of an error answer; '' for any other answer, and for one without a complete body. */
export function codeOf({ status, text }: Answer): string {
  if (status < 400 || text === undefined) return '';
  return (JSON.parse(text) as { error?: { code?: string } }).error?.code ?? '';
}
