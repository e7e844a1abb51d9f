/**
 * Kept answers in the state file, which a client may ask for again by payment identifier. The intent of a payment inserts a
 * row, the settlement or a dead end sets its expiry, and it is deleted when the payment ends uncharged or the row expires. A
 * row holds the digest of the identifier and the sealed answer, which only the identifier opens; a payment with two
 * identifiers has two rows.
 */
import type { IdentifierClaim } from '../../../payment/protocol/identifier.ts';
import type { LoadedAnswer } from '../../memory/reservation-journal.ts';
import { checksumOfFields, DamagedError } from '../checksum.ts';
import type { Connection } from '../connection.ts';
import type { Table } from './table.ts';

export const ANSWERS = 'answers';

interface OfAnswers {
  readonly table: typeof ANSWERS;
}

interface AnswerKey {
  readonly serial: number;
  /** As in the {@link IdentifierClaim}. */
  readonly digest: string;
}

export type AnswerOperation =
  /** A draft became an answer. */
  | (OfAnswers & { readonly kind: 'replace' } & AnswerKey & { readonly sealed: Uint8Array })
  | (OfAnswers & { readonly kind: 'forget'; readonly serials: readonly number[] });

/** Asks for a sealed answer; the answer is its bytes or undefined. */
export interface AnswerQuery extends OfAnswers, AnswerKey {}

const SCHEMA = `
  CREATE TABLE answer (
    serial INTEGER NOT NULL, digest BLOB NOT NULL, fingerprint BLOB NOT NULL, kept_until_ms INTEGER NOT NULL,
    hash TEXT NOT NULL, sealed BLOB NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY (serial, digest)
  );
`;

/** `kept_until_ms` of an answer whose payment has no outcome. */
const OPEN = 0;

const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1');

const checksumOf = (
  serial: number,
  { digest, fingerprint }: IdentifierClaim,
  keptUntilMs: number,
  hash: string,
): number => checksumOfFields(serial, bytesOf(digest), bytesOf(fingerprint), keptUntilMs, hash);

/** Records the answer of a payment that is about to be settled. */
export function insertAnswer(
  connection: Connection,
  serial: number,
  answer: IdentifierClaim,
  sealed: Uint8Array,
): void {
  connection.run(
    'INSERT INTO answer (serial, digest, fingerprint, kept_until_ms, hash, sealed, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)',
    serial,
    bytesOf(answer.digest),
    bytesOf(answer.fingerprint),
    OPEN,
    '',
    sealed,
    checksumOf(serial, answer, OPEN, ''),
  );
}

/** The payment has settled or is dead: keeps the answer until `keptUntilMs`. @param hash of the settlement; '' = dead */
export function keepAnswer(
  connection: Connection,
  serial: number,
  answer: IdentifierClaim,
  keptUntilMs: number,
  hash: string,
): void {
  connection.run(
    'UPDATE answer SET kept_until_ms = ?, hash = ?, checksum = ? WHERE serial = ? AND digest = ?',
    keptUntilMs,
    hash,
    checksumOf(serial, answer, keptUntilMs, hash),
    serial,
    bytesOf(answer.digest),
  );
}

export function dropAnswers(connection: Connection, serial: number): void {
  connection.run('DELETE FROM answer WHERE serial = ?', serial);
}

export const answers: Table<AnswerOperation, AnswerQuery> = {
  name: ANSWERS,
  schema: SCHEMA,
  apply(connection, operation) {
    switch (operation.kind) {
      case 'replace': {
        const { serial, digest, sealed } = operation;
        connection.run('UPDATE answer SET sealed = ? WHERE serial = ? AND digest = ?', sealed, serial, bytesOf(digest));
        return;
      }
      case 'forget':
        for (const serial of operation.serials) dropAnswers(connection, serial);
        return;
      default:
        operation satisfies never;
    }
  },
  read(connection, { serial, digest }) {
    const row = connection.row('SELECT sealed FROM answer WHERE serial = ? AND digest = ?', serial, bytesOf(digest));
    return row === undefined ? undefined : new Uint8Array(row.sealed as Uint8Array);
  },
  bodyBytesOf: (operation) => (operation.kind === 'replace' ? operation.sealed.length : 0),
};

/** Loads the kept answers without their texts, by serial. Removes those whose time is over. @throws DamagedError */
export function loadAnswers(connection: Connection, nowMs: number): LoadedAnswer[] {
  connection.run('DELETE FROM answer WHERE kept_until_ms > ? AND kept_until_ms <= ?', OPEN, nowMs);
  const rows = connection.all(
    'SELECT serial, digest, fingerprint, kept_until_ms, hash, LENGTH(sealed) AS size, checksum FROM answer ORDER BY kept_until_ms, serial',
  );
  return rows.map((row) => {
    const serial = row.serial as number;
    const claim = { digest: textOf(row.digest as Uint8Array), fingerprint: textOf(row.fingerprint as Uint8Array) };
    const keptUntilMs = row.kept_until_ms as number;
    const transaction = row.hash as string;
    if (checksumOf(serial, claim, keptUntilMs, transaction) !== row.checksum)
      throw new DamagedError(`answer ${serial}`);
    return {
      claim,
      serial,
      byteCount: row.size as number,
      transaction,
      keptUntilMs: keptUntilMs === OPEN ? undefined : keptUntilMs,
    };
  });
}
