/**
 * Buyers: each makes authorizations, pays with them, sends them again when an answer is lost or says so, at once and much
 * later; and the judgement of every answer to a payment (reliability I1 to I7).
 */
import { DEADLINES } from '../../src/adapters/facilitator/facilitator-http.ts';
import { CLAIM_BYTES } from '../../src/callback/limits.ts';
import type { Authorization } from '../../src/payment/protocol/authorization.ts';
import { BASE } from '../../src/payment/protocol/network.ts';
import { reservationKeyOf } from '../../src/payment/protocol/order.ts';
import type { UsedAuthorization } from '../../src/storage/memory/used-authorizations.ts';
import type { Chance } from '../support/chance.ts';
import { COMPANY, freshnessOf, versionsIn } from './catalogues.ts';
import type { Disk } from './disk.ts';
import type { Facilitator } from './facilitator.ts';
import { codeOf, isUnread, type Network } from './network.ts';
import { decoded, type Offer, paymentHeaderOf } from './payment-header.ts';
import type { Profile } from './profile.ts';
import { type Account, type Family, Purchase, type RouteName } from './purchase.ts';
import { drawResolve, RESOLVE_URL } from './resolve-clients.ts';
import { drawOrder, RETRIES_URL } from './retry-clients.ts';
import { type Answer, BASE_URL, type Exchange, PAY_TO, type Server } from './server.ts';
import type { Signing } from './signer.ts';
import type { Targets } from './targets.ts';
import type { World } from './world.ts';

const PLACES: Readonly<Record<RouteName, { readonly method: string; readonly url: string; readonly order?: string }>> =
  {
    search: { method: 'GET', url: `${BASE_URL}/v1/jobs/search?limit=3` },
    company: { method: 'GET', url: `${BASE_URL}/v1/jobs/company?company=${COMPANY}` },
    signals: { method: 'GET', url: `${BASE_URL}/v1/jobs/signals?period=7d` },
    create: { method: 'POST', url: `${BASE_URL}/v1/callbacks` },
    retry: {
      method: 'POST',
      url: RETRIES_URL,
      order: '{"request":{"method":"GET","url":"https://well-1.example.com/"}}',
    },
    resolve: { method: 'POST', url: RESOLVE_URL, order: '{"url":"https://well-1.example.com/"}' },
  };
const JSON_TYPE = { 'content-type': 'application/json' };

/** Refusals of a retry or resolve after its payment was verified, all of them free (siblings §5, §7). */
const FREE_CODES: ReadonlySet<string> = new Set([
  'PAYMENT_NOT_SETTLED',
  'SETTLEMENT_UNAVAILABLE',
  'TARGET_NOT_ALLOWED',
  'TARGET_UNREACHABLE',
  'TARGET_TIMEOUT',
  'TOO_MANY_REDIRECTS',
  'RESPONSE_TOO_LARGE',
  'TLS_ERROR',
  'RESOLVE_CAPACITY_EXCEEDED',
]);
const UNKNOWN_COMPANY = `${BASE_URL}/v1/jobs/company?company=nobody.example`;

/** Seconds by which the server's clock may have moved around the end of a stay. */
const STAY_SECONDS = 600;

export class Buyers {
  readonly purchases: Purchase[] = [];
  readonly byKey = new Map<string, Purchase>();
  /** A callback was sold. */
  onCreated: (answer: Answer, exchange: Exchange) => void = () => {};
  /** A retry or a resolve was sold. */
  onSold: (route: 'retry' | 'resolve', answer: Answer) => void = () => {};
  /** Jobs that were given again, by their idempotency keys. */
  readonly #jobs = new Map<string, string>();
  readonly #accounts: Account[] = [];
  readonly #offers = new Map<RouteName, Offer>();
  readonly #world: World;
  readonly #chance: Chance;
  readonly #profile: Profile;
  readonly #server: Server;
  readonly #network: Network;
  readonly #disk: Disk;
  readonly #facilitator: Facilitator;
  readonly #targets: Targets;
  readonly #isLocal: boolean;
  /** Nothing is tried but to pay. */
  #isPlain = false;

  constructor(
    parts: {
      readonly world: World;
      readonly profile: Profile;
      readonly server: Server;
      readonly network: Network;
      readonly disk: Disk;
      readonly facilitator: Facilitator;
      readonly signing: Signing;
      readonly targets: Targets;
    },
    chance: Chance,
  ) {
    this.#world = parts.world;
    this.#profile = parts.profile;
    this.#server = parts.server;
    this.#network = parts.network;
    this.#disk = parts.disk;
    this.#facilitator = parts.facilitator;
    this.#targets = parts.targets;
    this.#chance = chance;
    this.#isLocal = parts.profile.settlement === 'local';
    const { payerCount, poorShare } = parts.profile;
    for (let i = 0; i < payerCount; i++) {
      // One of them can always pay.
      const isPoor = i > 0 && chance.is(poorShare);
      const balanceAtomic = isPoor ? BigInt(chance.below(100_000)) : 10n ** 12n;
      this.#accounts.push({ payer: parts.signing.newPayer(), balanceAtomic });
    }
  }

  /** The offers, from a server that is asked for them. */
  async learnOffers(fetch: (request: Request) => Response | Promise<Response>): Promise<void> {
    for (const name of Object.keys(PLACES) as RouteName[]) {
      const { method, url, order } = PLACES[name];
      const body = order === undefined ? {} : { body: order, headers: JSON_TYPE };
      const response = await fetch(new Request(url, { method, ...body }));
      if (response.status !== 402) throw new Error(`no offer of ${name}: ${response.status}`);
      this.#offers.set(name, decoded(response.headers.get('payment-required')) as unknown as Offer);
    }
  }

  /** A new authorization, on its way to be used. */
  buy(isPlain = false): Purchase {
    this.#isPlain = isPlain;
    const purchase = this.#newPurchase(isPlain);
    this.#world.count('purchases');
    this.#attempt(purchase, 1);
    for (let i = purchase.family === undefined ? 0 : 1 + this.#chance.below(3); i > 0; i--) {
      this.#world.after(this.#chance.delayMs(300, 60_000, 0.4), () => {
        this.#world.count('purchases under shared names');
        this.#attempt(this.#newPurchase(false, undefined, purchase), 1);
      });
    }
    if (!isPlain && this.#chance.is(this.#profile.duplicateShare)) {
      const copies = 1 + this.#chance.below(3);
      for (let i = 0; i < copies; i++) this.#attempt(purchase, 99);
    }
    if (this.#profile.thirdPartyShare > 0 && !isPlain && this.#chance.is(this.#profile.thirdPartyShare)) {
      this.#world.after(this.#chance.between(0, 200), () => {
        if (purchase.moved !== '' || purchase.pending !== undefined) return;
        purchase.isFrontRun = true;
        if (this.#facilitator.transfer(purchase) !== undefined) purchase.isFrontRun = false;
      });
    }
    return purchase;
  }

  /**
   * @param again one whose answer is asked for with another authorization
   * @param relative one of whose family this is another
   */
  #newPurchase(isPlain: boolean, again?: Purchase, relative = again): Purchase {
    const chance = this.#chance;
    const route = relative?.route ?? this.#drawRoute(isPlain);
    const order = relative?.order ?? this.#drawOrder(route);
    const family = relative === undefined ? this.#drawFamily(route) : relative.family;
    const { identifier, idempotencyKey } = again ?? this.#drawNames(order, family);
    const offer = this.#offers.get(route) as Offer;
    const accepted = offer.accepts[0] as Offer['accepts'][number];
    const account = relative?.account ?? (isPlain ? this.#richAccount() : chance.pick(this.#accounts));
    const nonce = `0x${chance.hex(32)}`;
    const lifeSeconds = isPlain || chance.is(0.7) ? 120 : chance.pick([3, 8, 15, 40, 40, 149, 400]);
    const validBeforeSeconds =
      Math.floor((this.#world.wallMs + this.#server.skewMs * Number(chance.is(0.9))) / 1000) + lifeSeconds;
    const authorization: Authorization = {
      from: account.payer.address,
      to: PAY_TO.toLowerCase(),
      valueAtomic: BigInt(accepted.amount),
      validAfterSeconds: 0,
      validBeforeSeconds,
      nonce,
    };
    const kind: Purchase['signature'] =
      isPlain || relative !== undefined
        ? 'good'
        : chance.pick([
            'good',
            'good',
            'good',
            'good',
            'good',
            'good',
            'good',
            'good',
            'bad',
            'contract',
            'contract',
            'bad-contract',
          ]);
    let signature: Uint8Array = chance.bytes(96);
    if (kind === 'good' || kind === 'bad') {
      const signer = kind === 'good' ? authorization : { ...authorization, valueAtomic: 1n };
      signature = account.payer.sign(signer);
    }
    const header = paymentHeaderOf(offer, authorization, signature, identifier);
    const purchase = new Purchase({
      number: this.purchases.length,
      account,
      route,
      key: reservationKeyOf(BASE, account.payer.address, nonce),
      nonce,
      amountAtomic: authorization.valueAtomic,
      validBeforeSeconds,
      signature: kind,
      header,
      order,
      identifier,
      idempotencyKey,
      family,
      again,
    });
    if (again === undefined) family?.members.push(purchase);
    this.purchases.push(purchase);
    this.byKey.set(purchase.key, purchase);
    this.#facilitator.purchases.set(nonce, purchase);
    return purchase;
  }

  #drawRoute(isPlain: boolean): RouteName {
    const chance = this.#chance;
    const { callbackShare, retryShare, resolveShare } = this.#profile;
    if (chance.is(callbackShare)) return 'create';
    if (!isPlain && chance.is(retryShare)) return 'retry';
    if (!isPlain && chance.is(resolveShare)) return 'resolve';
    return chance.pick<RouteName>(['search', 'search', 'company', 'signals']);
  }

  #drawOrder(route: RouteName): string | undefined {
    if (route === 'retry') return drawOrder(this.#chance, this.#targets);
    return route === 'resolve' ? drawResolve(this.#chance, this.#targets) : undefined;
  }

  #drawFamily(route: RouteName): Family | undefined {
    const chance = this.#chance;
    if (route !== 'retry' || !chance.is(this.#profile.sharedNamesShare)) return undefined;
    const names = (): string[] => [chance.hex(16), chance.hex(16)].slice(chance.below(2));
    return { identifiers: names(), idempotencyKeys: names(), members: [] };
  }

  /** Of a family a purchase has an identifier, a key or both. */
  #drawNames(order: string | undefined, family: Family | undefined): Pick<Purchase, 'identifier' | 'idempotencyKey'> {
    const chance = this.#chance;
    if (family === undefined) {
      return {
        identifier: order !== undefined && chance.is(0.7) ? chance.hex(16) : undefined,
        idempotencyKey: undefined,
      };
    }
    const kinds = chance.pick(['identifier', 'key', 'both']);
    return {
      identifier: kinds === 'key' ? undefined : chance.pick(family.identifiers),
      idempotencyKey: kinds === 'identifier' ? undefined : chance.pick(family.idempotencyKeys),
    };
  }

  /** One that can still pay. */
  #richAccount(): Account {
    const rich = this.#accounts.find(({ balanceAtomic }) => balanceAtomic > 10n ** 9n);
    const account = rich ?? (this.#accounts[0] as Account);
    if (rich === undefined) account.balanceAtomic = 10n ** 12n;
    return account;
  }

  #attempt(purchase: Purchase, number: number): void {
    const chance = this.#chance;
    const { method, url } = PLACES[purchase.route];
    const isStrange = !this.#isPlain && purchase.route === 'company' && chance.is(0.05);
    this.#network.send({
      name: `${purchase.name} ${purchase.route}`,
      method,
      url: isStrange ? UNKNOWN_COMPANY : url,
      headers: {
        'payment-signature': purchase.header,
        ...(purchase.order === undefined ? {} : JSON_TYPE),
        ...(purchase.idempotencyKey === undefined ? {} : { 'idempotency-key': purchase.idempotencyKey }),
      },
      body: purchase.order,
      address: `10.${purchase.number % 5}.0.1`,
      mayLeave: true,
      onArrival: () => {
        purchase.outstandingCount++;
        purchase.isToldFree = false;
      },
      onCut: () => {
        purchase.outstandingCount--;
        purchase.hasBeenCut = true;
      },
      judge: (answer, exchange) => {
        purchase.outstandingCount--;
        this.#world.count('paid requests answered');
        this.#judge(purchase, answer, exchange);
      },
      onAnswer: (answer) => this.#next(purchase, answer.status, number),
      onLost: () => this.#next(purchase, 0, number),
    });
  }

  #next(purchase: Purchase, status: number, number: number): void {
    const chance = this.#chance;
    const again = (delayMs: number): void => {
      this.#world.after(delayMs, () => this.#attempt(purchase, number + 1));
    };
    if (number > 6) return;
    if (status >= 200 && status < 300) {
      if (chance.is(0.25)) again(chance.is(0.2) ? chance.between(60_000, 900_000) : chance.between(0, 60_000));
      return;
    }
    const share = status === 0 ? 0.8 : status >= 502 ? 0.7 : 0.3;
    if (chance.is(share)) again(chance.between(0, 6_000));
  }

  /** It was charged for, or may be: as far as the chain, or in play the state, can tell. */
  #mayBeCharged(purchase: Purchase): boolean {
    if (!this.#isLocal) return purchase.mayBeCharged();
    return this.#disk.records.usedKeys.has(purchase.key);
  }

  #judge(purchase: Purchase, answer: Answer, exchange: Exchange): void {
    const { world } = { world: this.#world };
    const { status, headers } = answer;
    const code = status < 300 ? '' : codeOf(answer);
    const isOpen = purchase.isHonest() && !purchase.signature.endsWith('contract');
    const forbid = (invariant: string, what: string): void => {
      if (!isOpen) return;
      world.judge(invariant, !this.#mayBeCharged(purchase), () => `${purchase.name} ${what}, but is charged`);
    };
    const isUncached = headers.get('cache-control')?.includes('no-store') === true;
    world.judge('A3 not cached', isUncached, () => `${exchange.name} ${status}: ${headers.get('cache-control')}`);
    const isToldFree = FREE_CODES.has(code);
    if (isToldFree && purchase.outstandingCount === 0 && isOpen) purchase.isToldFree = true;
    switch (status) {
      case 200:
      case 201:
      case 202:
        this.#judgeSigner(purchase);
        if (!headers.has('payment-response') && purchase.idempotencyKey !== undefined)
          this.#judgeRepeated(purchase, answer);
        else this.#judgeSuccess(this.#soldTo(purchase, answer), answer, exchange);
        return;
      case 402: {
        const { error } = decoded(headers.get('payment-required'));
        const isWindow = String(error).includes('valid_before') || String(error).includes('valid_after');
        if (code === 'PAYMENT_NOT_SETTLED') {
          forbid('I4 refused costs nothing', '402');
          if (purchase.isHonest() && this.#mayBeCharged(purchase))
            world.fail('I4 refused costs nothing', purchase.name);
        } else if (code !== 'PAYMENT_INVALID') world.fail('A4 right answers', `${exchange.name}: 402 ${code}`);
        else if (!isWindow) forbid('I5 never 402 on unknown', `402 ${String(error)}`);
        if (purchase.signature === 'bad') world.judge('I6 signatures', code === 'PAYMENT_INVALID', () => purchase.name);
        return;
      }
      case 400:
      case 502:
      case 504:
        if (purchase.order === undefined || !FREE_CODES.has(code)) {
          world.fail('A4 right answers', `${exchange.name}: ${status} ${answer.text}`);
        } else {
          world.count(`refused for nothing: ${code}`);
          forbid('I4 refused costs nothing', `${status} ${code}`);
        }
        return;
      case 408:
        if (purchase.order === undefined || !isUnread(answer, exchange, world.nowMs))
          world.fail('A4 right answers', `${exchange.name}: 408 ${answer.text}`);
        return;
      case 409:
        this.#judgeUsed(purchase, answer, exchange);
        return;
      case 503:
        if (code === 'SETTLEMENT_PENDING') this.#judgePending(purchase, answer);
        else if (code === 'SETTLEMENT_UNAVAILABLE') forbid('I5 unknown stays used', '503 unavailable');
        else if (code === 'RESOLVE_CAPACITY_EXCEEDED') forbid('I4 refused costs nothing', code);
        else if (code === 'STATE_UNAVAILABLE' && purchase.idempotencyKey !== undefined)
          forbid('I4 refused costs nothing', code);
        else if (code === 'CALLBACK_CAPACITY_EXCEEDED') {
          const claimed = exchange.life.backend?.callbacks.capacity.claimedBytes ?? 0;
          if (claimed + CLAIM_BYTES <= this.#server.capacityBytes) {
            world.fail('R1 room', `refused with ${claimed / CLAIM_BYTES} of ${this.#profile.callbackCapacity} claimed`);
          }
        } else world.fail('A4 right answers', `${exchange.name}: 503 ${code}`);
        if (headers.get('retry-after') === null) world.fail('A4 right answers', `${exchange.name}: no Retry-After`);
        return;
      case 404:
        if (code !== 'COMPANY_NOT_FOUND') world.fail('A4 right answers', `${exchange.name}: 404 ${code}`);
        return;
      case 429:
        // By the rate of its address, or because too many payments of its address wait to be verified.
        if (code !== 'RATE_LIMIT_EXCEEDED' || headers.get('retry-after') === null) {
          world.fail('A4 right answers', `${exchange.name}: 429 ${code}`);
        }
        return;
      case 500:
        if ((purchase.route === 'create' || purchase.order !== undefined) && this.#hasDiskTrouble()) return;
        world.fail('P2 no bugs', `${exchange.name}: 500 ${answer.text}`);
        return;
      default:
        world.fail('A4 right answers', `${exchange.name}: ${status} ${answer.text}`);
    }
  }

  /** A record may have failed lately. */
  #hasDiskTrouble(): boolean {
    return this.#server.hasStateFault || this.#world.nowMs - this.#server.lastDiskFaultMs < 60_000;
  }

  #judgeSuccess(purchase: Purchase, answer: Answer, exchange: Exchange): void {
    const world = this.#world;
    const { text, headers } = answer;
    purchase.successCount++;
    world.count('purchases answered');
    world.met('I3 receipt');
    if (purchase.isHonest() && !this.#isLocal) world.met('I2 settled first');
    this.#judgeBought(purchase, answer);
    if (!purchase.isNamed && purchase.outstandingCount > 0) world.met('I1 one answer');
    if (purchase.successCount > 1 && !purchase.isNamed)
      world.fail('I1 one answer', `${purchase.name} was answered ${purchase.successCount} times`);
    const end = this.#endOf(purchase);
    if (end?.kind !== 'settled')
      world.fail('I3 recorded first', `${purchase.name} was answered before its outcome was on disk`);
    const receipt = decoded(headers.get('payment-response'));
    if (receipt.success !== true || receipt.network !== BASE.id || receipt.transaction !== end?.transaction) {
      world.fail('I3 receipt', `${purchase.name}: ${JSON.stringify(receipt)}`);
    }
    if (!this.#isLocal) {
      if (!purchase.hasSuccessBeenSaid) world.fail('I2 settled first', `${purchase.name}: no success was ever said`);
      if (purchase.isHonest() && purchase.moved !== receipt.transaction) {
        world.fail('I2 settled first', `${purchase.name}: moved ${purchase.moved}, receipt ${receipt.transaction}`);
      }
    }
    if (purchase.route === 'create') this.onCreated(answer, exchange);
    if (purchase.route === 'create' || purchase.order !== undefined) return;
    const versions = versionsIn(text);
    const [version = -1] = versions;
    const { meta } = JSON.parse(text) as { meta: { freshness: { last_observed_at: string } } };
    const isOne = versions.size === 1 && exchange.versions.has(version);
    if (!isOne || meta.freshness.last_observed_at !== freshnessOf(version)) {
      world.fail('A2 one snapshot', `${exchange.name} mixes ${[...versions]}, served were ${[...exchange.versions]}`);
    }
  }

  /** Of a contract's signature there is nothing but the facilitator's word. */
  #judgeSigner({ name, signature, isLiedAbout, isVouchedFor }: Purchase): void {
    const isItsWord = signature === 'bad-contract' && (isLiedAbout || isVouchedFor);
    if (signature.startsWith('bad') && !isItsWord)
      this.#world.fail('I6 signatures', `${name} was signed by somebody else`);
  }

  /** The purchase whose answer this is: of those that share a name, the one that the receipt names. */
  #soldTo(asking: Purchase, answer: Answer): Purchase {
    const purchase = asking.again ?? asking;
    const { transaction } = decoded(answer.headers.get('payment-response'));
    return [purchase, ...asking.namesakes()].find((one) => this.#endOf(one)?.transaction === transaction) ?? purchase;
  }

  /** The job of its idempotency key, which was bought before: no money moves. */
  #judgeRepeated(purchase: Purchase, answer: Answer): void {
    const world = this.#world;
    world.count('jobs given again to a payer');
    world.met('N1 one name buys once');
    if (answer.status !== 200 || this.#endOf(purchase)?.kind === 'settled') {
      world.fail('N1 one name buys once', `${purchase.name} is ${answer.status} without a receipt`);
    }
    const { id } = JSON.parse(answer.text) as { id: string };
    const key = purchase.idempotencyKey as string;
    const known = this.#jobs.get(key) ?? id;
    if (known !== id) world.fail('J6 one job for a key', `${purchase.name}: ${known} and ${id}`);
    this.#jobs.set(key, id);
    if (purchase.again === undefined) return;
    purchase.again.successCount++;
    this.#noteBought(purchase.again, id);
  }

  #endOf({ key }: Purchase): UsedAuthorization | undefined {
    const { usedKeys, used } = this.#disk.records;
    const serial = usedKeys.get(key);
    return serial === undefined ? undefined : used.get(serial);
  }

  /** A purchase buys one retry or resolve, however often its answer is given. */
  #judgeBought(purchase: Purchase, answer: Answer): void {
    const { route } = purchase;
    if (route !== 'retry' && route !== 'resolve') return;
    const { id, status } = JSON.parse(answer.text) as { id: string; status: string };
    // Only what was paid for before may be answered with a failure.
    const isFirst = purchase.boughtId === undefined && !purchase.hasBeenCut && !purchase.hasBeenUnknown;
    if (status !== 'failed' && isFirst) this.#world.met('S5 a failure within the wait is free');
    if (status === 'failed' && isFirst && !this.#hasDiskTrouble() && purchase.isHonest()) {
      this.#world.fail('S5 a failure within the wait is free', `${purchase.name} paid for a failure`);
    }
    this.#noteBought(purchase, id);
    this.onSold(route, answer);
  }

  #noteBought(purchase: Purchase, id: string): void {
    if (purchase.boughtId !== undefined && purchase.boughtId !== id) {
      this.#world.fail('I1 one answer', `${purchase.name} bought ${purchase.boughtId} and ${id}`);
    }
    const other = purchase.family?.members.find((one) => one !== purchase && one.boughtId === id);
    if ((purchase.family?.members.length ?? 0) > 1) this.#world.met('N2 a purchase has its job');
    if (other !== undefined) {
      this.#world.fail('N2 a purchase has its job', `${purchase.name} and ${other.name} bought ${id}`);
    }
    purchase.boughtId = id;
  }

  /** Asks, with other authorizations, for what was paid for and never answered. @returns those that must be answered now */
  askForLost(): readonly Purchase[] {
    const lost = this.purchases.filter(
      (purchase) => purchase.isNamed && purchase.successCount === 0 && this.#endOf(purchase)?.kind === 'settled',
    );
    for (const purchase of lost) {
      this.#world.count('lost answers asked for');
      this.#world.met('C3 charged once');
      this.#attempt(this.#newPurchase(true, purchase), 99);
    }
    return lost;
  }

  #judgeUsed(purchase: Purchase, answer: Answer, exchange: Exchange): void {
    const world = this.#world;
    const { records } = this.#disk;
    const header = answer.headers.get('payment-response');
    if (header !== null) {
      const receipt = decoded(header);
      const isRight = !purchase.isHonest() || this.#isLocal || receipt.transaction === purchase.moved;
      if (receipt.success === true && !isRight)
        world.fail('I3 receipt', `${purchase.name}: 409 with ${receipt.transaction}`);
    }
    const isOnRecord = records.pendingKeys.has(purchase.key) || records.usedKeys.has(purchase.key);
    // A commit that failed may be on disk all the same, so may its release: the next start reads it.
    const isKnown = isOnRecord || exchange.life.hasDiskBroken;
    const isAlone = purchase.outstandingCount === 0;
    if (isAlone && !purchase.hasBeenCut) world.met('I5 definite frees');
    if (isAlone && !isKnown && !purchase.hasBeenCut && world.nowMs - (this.releasedMs.get(purchase.key) ?? 0) > 50) {
      world.fail('I5 definite frees', `${exchange.name}: 409, and nothing is known against it`);
    }
  }

  /** When the release of a key became durable. */
  readonly releasedMs = new Map<string, number>();

  #judgePending(purchase: Purchase, answer: Answer): void {
    const receipt = decoded(answer.headers.get('payment-response'));
    if (
      receipt.success !== false ||
      receipt.errorReason !== 'settlement_pending' ||
      answer.headers.has('payment-required')
    ) {
      this.#world.fail('I5 never 402 on unknown', `${purchase.name}: pending with ${JSON.stringify(receipt)}`);
    }
    const isReason = [purchase, ...purchase.namesakes()].some(
      (one) =>
        one.hasBeenUnknown || one.hasBeenCut || one.isLiedAbout || (one !== purchase && one.outstandingCount > 0),
    );
    // A settlement under way when the server was told to stop is given up, whatever becomes of it.
    const drainedAtMs = this.#server.life?.drainedAtMs ?? Number.POSITIVE_INFINITY;
    const isGivenUp = this.#world.nowMs - drainedAtMs >= DEADLINES.drainMs;
    if (!isReason && !isGivenUp && !this.#hasDiskTrouble())
      this.#world.fail('I5 definite frees', `${purchase.name} is pending without a reason`);
  }

  /** Asks where an authorization stands; at the end it must be final. */
  ask(purchase: Purchase, isEnd: boolean): void {
    const world = this.#world;
    this.#network.send({
      name: `status of ${purchase.name}`,
      method: 'GET',
      url: `${BASE_URL}/v1/payments/${BASE.id}/${purchase.account.payer.address}/${purchase.nonce}`,
      judge: (answer) => {
        const { status, text } = answer;
        if (status === 503 && !isEnd && this.#hasDiskTrouble()) return; // the books could not be read
        if (status !== 200 && status !== 404) {
          world.fail('A4 right answers', `status of ${purchase.name}: ${status}`);
          return;
        }
        const isForgettable = world.wallMs / 1000 > purchase.validBeforeSeconds + STAY_SECONDS - 300;
        const standing =
          status === 200 ? (JSON.parse(text) as { state: string; transaction: string | null }) : undefined;
        if (standing === undefined) {
          if (purchase.isHonest() && !isForgettable && this.#mayBeCharged(purchase)) {
            world.fail('I5 unknown stays used', `${purchase.name} is free, but charged`);
          }
          return;
        }
        if (
          standing.state === 'settled' &&
          !this.#isLocal &&
          purchase.isHonest() &&
          standing.transaction !== purchase.moved
        ) {
          world.fail(
            'I3 receipt',
            `${purchase.name} stands as settled by ${standing.transaction}, moved ${purchase.moved}`,
          );
        }
        if (isEnd) this.#judgeEnd(purchase, standing.state);
      },
    });
  }

  /** Faults have stopped and every window is over. */
  #judgeEnd(purchase: Purchase, state: string): void {
    const world = this.#world;
    world.met('L1 everything ends');
    if (state !== 'settled' && state !== 'dead') {
      world.fail('L1 everything ends', `${purchase.name} is ${state} long after everything is well`);
      return;
    }
    if (this.#isLocal || !purchase.isHonest()) return;
    const isMoved = purchase.moved !== '';
    // A wall clock that was set past the window closed it, and its last question may have been asked before faults stopped.
    const isAskable =
      this.#profile.repeats === 'same' && this.pendingAtHeal.has(purchase.key) && !this.#server.hasSkewed;
    if (isMoved && state === 'dead' && isAskable) {
      world.fail('I3 receipt', `${purchase.name} moved and could be asked for, but is dead`);
    }
    if (!isMoved && state === 'settled')
      world.fail('I2 settled first', `${purchase.name} stands as settled, nothing moved`);
    if (!isMoved && state === 'dead' && !purchase.hasBeenUnknown && !purchase.hasBeenCut && !this.hasDiskFailed) {
      world.fail('I5 definite frees', `${purchase.name} is dead, and was never unknown`);
    }
  }

  /** What had no end yet when faults stopped. */
  pendingAtHeal: ReadonlySet<string> = new Set();
  hasDiskFailed = false;
}
