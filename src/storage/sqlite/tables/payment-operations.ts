/** The operations of payments, and the lists as which most of them cross to the writer's thread (`Table.pack`). */
import type { Sale, SaleFacts } from '../../../payment/books.ts';
import type { IdentifierClaim } from '../../../payment/protocol/identifier.ts';
import type { AnswerToKeep } from '../../memory/reservation-journal.ts';
import type { UsedAuthorization } from '../../memory/used-authorizations.ts';
import type { Primitive } from './table.ts';

export const PAYMENTS = 'payments';

interface OfPayments {
  readonly table: typeof PAYMENTS;
}

/** A settlement that is about to begin. */
export interface Intent extends OfPayments {
  readonly kind: 'intent';
  readonly serial: number;
  /** True: it moves play money, so its outcome changes the play ledger's sums. */
  readonly isPlay: boolean;
  /** Lower case. */
  readonly payer: string;
  readonly valueAtomic: bigint;
  /** As `orderTextOf` writes it. */
  readonly order: string;
  /** JSON of the {@link SaleFacts}. */
  readonly sale: string;
  /** One for each identifier of the payment. */
  readonly answers: readonly AnswerToKeep[];
}

/** The final outcome of a settlement. */
export interface End extends OfPayments {
  readonly kind: 'end';
  readonly serial: number;
  readonly end: UsedAuthorization;
  /** The entry of the books for a settled payment. */
  readonly sale: Sale | undefined;
  /** The identifiers of the payment. */
  readonly claims: readonly IdentifierClaim[];
  /** Only used for a payment with an identifier. */
  readonly keptUntilMs: number;
}

export interface Unknown extends OfPayments {
  readonly kind: 'unknown';
  readonly serial: number;
  readonly transaction: string;
  readonly isRefused: boolean;
}

export type PaymentOperation =
  | Intent
  | Unknown
  | End
  | (OfPayments & { readonly kind: 'release'; readonly serial: number })
  /** Used authorizations whose retention is over. */
  | (OfPayments & { readonly kind: 'forget'; readonly serials: readonly number[] });

type PackedIntent = [
  kind: 'intent',
  serial: number,
  isPlay: boolean,
  payer: string,
  value: string,
  order: string,
  sale: string,
];

type PackedEnd = [
  kind: 'end',
  serial: number,
  keptUntilMs: number,
  end: UsedAuthorization['kind'],
  key: UsedAuthorization['key'],
  validBeforeSeconds: number,
  transaction: string,
  /** From here on of the sale. */
  saleSerial: number,
  timeMs: number,
  operation: string,
  amount: string,
  network: Sale['network'],
  payer: Sale['payer'],
  nonce: string,
  saleTransaction: string,
  requestId: string,
  question: string,
  parameters: string | null,
  settlement: Sale['settlement'],
  isDelivered: boolean,
];

const packedIntent = ({ serial, isPlay, payer, valueAtomic, order, sale }: Intent): PackedIntent => [
  'intent',
  serial,
  isPlay,
  payer,
  String(valueAtomic),
  order,
  sale,
];

const packedEnd = ({ serial, keptUntilMs, end }: End, sale: Sale): PackedEnd => [
  'end',
  serial,
  keptUntilMs,
  end.kind,
  end.key,
  end.validBeforeSeconds,
  end.transaction,
  sale.serial,
  sale.timeMs,
  sale.operation,
  String(sale.amountAtomic),
  sale.network,
  sale.payer,
  sale.nonce,
  sale.transaction,
  sale.requestId,
  sale.question,
  sale.parameters,
  sale.settlement,
  sale.isDelivered,
];

/** Packs what each payment without an identifier writes: its intent, and the end that is a sale. */
export function packPayment(operation: PaymentOperation): readonly Primitive[] | undefined {
  if (operation.kind === 'intent' && operation.answers.length === 0) return packedIntent(operation);
  if (operation.kind === 'end' && operation.sale !== undefined && operation.claims.length === 0) {
    return packedEnd(operation, operation.sale);
  }
  return undefined;
}

function intentOf([kind, serial, isPlay, payer, value, order, sale]: PackedIntent): Intent {
  return { table: PAYMENTS, kind, serial, isPlay, payer, valueAtomic: BigInt(value), order, sale, answers: [] };
}

function endOf(packed: PackedEnd): End {
  const [kind, serial, keptUntilMs, end, key, validBeforeSeconds, transaction, ...ofSale] = packed;
  const [saleSerial, timeMs, operation, amount, network, payer, nonce, saleTransaction, ...ofRequest] = ofSale;
  const [requestId, question, parameters, settlement, isDelivered] = ofRequest;
  const sale: Sale = {
    serial: saleSerial,
    timeMs,
    operation,
    amountAtomic: BigInt(amount),
    network,
    payer,
    nonce,
    transaction: saleTransaction,
    requestId,
    question,
    parameters,
    settlement,
    isDelivered,
  };
  const used = { kind: end, key, validBeforeSeconds, transaction };
  return { table: PAYMENTS, kind, serial, keptUntilMs, end: used, sale, claims: [] };
}

/** @param packed by {@link packPayment} */
export function unpackPayment(packed: readonly Primitive[]): Intent | End {
  return packed[0] === 'intent' ? intentOf(packed as PackedIntent) : endOf(packed as unknown as PackedEnd);
}
