/**
 * A facilitator on loopback for honest customers and attackers alike. It takes its time over a wallet without money, as one
 * that asks the chain does, and fails on signatures of contract wallets, as one does whose contract call runs into a limit:
 * the signature's first byte says whether it answers 503 or not at all. About itself it always answers.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CONTRACT_FATES, EMPTY_WALLET_MARK } from './purse.ts';

const PAY_TO = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C';
const USUAL_MS = 5;
/** Below the longest that a verification may take, so that it counts as an answer. */
const EMPTY_WALLET_MS = 4000;
const CONTRACT_MS = 20;
/** `0x` and 65 bytes. */
const SIGNATURE_CHARACTERS = 132;

interface Body {
  readonly paymentPayload: {
    readonly payload: {
      readonly signature: string;
      readonly authorization: { readonly from: string; readonly nonce: string };
    };
  };
}

export class AttackedFacilitator {
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
    this.#server.keepAliveTimeout = 300_000;
  }

  /** Listens, and gives the settings of a server that settles through it. */
  async settings(): Promise<Record<string, string>> {
    return { SETTLEMENT: 'facilitator', FACILITATOR_URL: await this.#listen(), PAY_TO };
  }

  async #listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return; // the server gave up meanwhile
    }
    if (request.url === '/supported') {
      this.#answer(response, 0, 200, { kinds: [], extensions: [], signers: {} });
      return;
    }
    const { payload } = (JSON.parse(Buffer.concat(chunks).toString('utf8')) as Body).paymentPayload;
    const { from, nonce } = payload.authorization;
    if (payload.signature.length !== SIGNATURE_CHARACTERS) {
      const isHung = payload.signature.startsWith(CONTRACT_FATES.hangs, 2);
      if (!isHung) this.#answer(response, CONTRACT_MS, 503, { error: 'the contract call failed' });
      return;
    }
    if (nonce.startsWith(EMPTY_WALLET_MARK, 2)) {
      const refusal = { isValid: false, invalidReason: 'insufficient_funds', payer: from };
      this.#answer(response, EMPTY_WALLET_MS, 200, refusal);
    } else if (request.url === '/verify') this.#answer(response, USUAL_MS, 200, { isValid: true, payer: from });
    else {
      const transaction = `0x${[...nonce.slice(2)].reverse().join('')}`;
      this.#answer(response, USUAL_MS, 200, { success: true, transaction, network: 'eip155:8453', payer: from });
    }
  }

  #answer(response: ServerResponse, delayMs: number, status: number, body: unknown): void {
    setTimeout(() => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    }, delayMs);
  }
}
