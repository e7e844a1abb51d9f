/**
 * One GET to a jobs service over connections that stay open between questions. It follows no redirect and distinguishes
 * a refused or lost connection from an answer. The caller keeps the time and aborts.
 *
 * Node uses `node:http`, which takes less than half the time of its `fetch`; Bun uses `fetch`, which takes a third of
 * the time of its `node:http` (bench/split.ts). Bun's `fetch` takes a proxy from the environment, and in Bun 1.4.0 has
 * no `proxy: false`, so if a proxy variable is set Bun uses `node:http` too.
 */
import { decodeUtf8 } from '../../base/codec.ts';
import { ANSWER_BYTES_MAX } from './limits.ts';

export type Exchanged =
  | { readonly kind: 'answer'; readonly status: number; readonly text: string }
  /** A body above the bound, or one that is not UTF-8. */
  | { readonly kind: 'unusable'; readonly detail: string }
  /** The connection was not made, or ended before the answer was whole. */
  | { readonly kind: 'lost'; readonly detail: string };

/** An exchange under way. */
export interface PendingExchange {
  /** Never rejects. */
  readonly done: Promise<Exchanged>;
  /** Ends it; `done` then resolves as lost. */
  abort(): void;
}

/** The connections to one service. */
export interface Connections {
  /** @param target path and query below the base address */
  get(target: string): PendingExchange;
  close(): void;
}

export const headersWith = (token: string): Readonly<Record<string, string>> => ({
  accept: 'application/json',
  'accept-encoding': 'identity',
  authorization: `Bearer ${token}`,
});

/** Whether an answer states a body above the bound, which need not be waited for. @param length its `Content-Length` */
export const statesTooMuch = (length: string | null | undefined): boolean => Number(length ?? 0) > ANSWER_BYTES_MAX;

/** Collects a body within its bound. */
export class BodyCollector {
  readonly #chunks: Uint8Array[] = [];
  #byteCount = 0;

  /** @returns false when the body is above the bound */
  add(chunk: Uint8Array): boolean {
    this.#byteCount += chunk.length;
    this.#chunks.push(chunk);
    return this.#byteCount <= ANSWER_BYTES_MAX;
  }

  /** The whole body. */
  exchanged(status: number): Exchanged {
    const text = decodeUtf8(this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks));
    return text === undefined
      ? { kind: 'unusable', detail: 'the body is not UTF-8' }
      : { kind: 'answer', status, text };
  }
}

/** An answer that changes the protocol, which the gate never asks for. */
export const SWITCHED: Exchanged = { kind: 'answer', status: 101, text: '' };
export const TOO_LONG: Exchanged = { kind: 'unusable', detail: `the body has more than ${ANSWER_BYTES_MAX} bytes` };
export const CUT: Exchanged = { kind: 'lost', detail: 'connection lost within the answer' };
