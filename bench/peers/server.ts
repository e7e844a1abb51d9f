/**
 * One server per process, by name; prints `listening on PORT`. The servers of the pairs in http.ts:
 *
 *   app                the whole application over `--catalogue FILE`, state in memory, no log, no rate limit
 *   app-native         the same with libsecp256k1 as native code
 *   app-unverified     the same with a recovery that accepts every signature as its payer's
 *   constant           one response that is read from `--response FILE`, through the adapter
 *   constant-own       the same through the project's own listener
 *   bare               node:http, or Bun.serve under Bun, with the same response
 *   free               the project's own handler through the adapter, and nothing else
 *   official           @x402/hono in front of the project's own handler; a facilitator that checks nothing
 *   official-viem      the same with a facilitator in this process that verifies as the protocol says, by viem
 *
 * The adapter is @hono/node-server on Node; Bun needs none.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { hexToBytes } from '@noble/hashes/utils.js';
import { HTTPFacilitatorClient } from '@x402/core/server';
import { ExactEvmScheme } from '@x402/evm/exact/server';
import { paymentMiddleware, x402ResourceServer } from '@x402/hono';
import { Hono } from 'hono';
import { verifyTypedData } from 'viem/utils';
import { bazaarOf } from '../../src/access/x402-discovery.ts';
import type { RequestHandler } from '../../src/adapters/listen/listen.ts';
import { openListener } from '../../src/adapters/listen/open-listener.ts';
import { LISTENER_BODIES } from '../../src/adapters/process/runtime-bodies.ts';
import { chooseRecovery, type SignatureMode } from '../../src/adapters/verification/recovery.ts';
import { openApp } from '../../src/app/app.ts';
import { CONFIGURATION } from '../../src/app/configuration.ts';
import { systemClock } from '../../src/base/clock.ts';
import { JsonText } from '../../src/http/answers.ts';
import type { MadeResponse } from '../../src/http/response-form.ts';
import { AnswersMemo } from '../../src/modules/jobs/services.ts';
import { findSignals } from '../../src/modules/jobs/signals.ts';
import type { RecoveryWorker } from '../../src/payment/signature/recovery-queue.ts';
import { appPorts } from '../../test/support/app-ports.ts';
import { trustingWorker } from '../../test/support/recovery.ts';
import { isBun } from '../harness.ts';
import { openCatalogue } from '../synthetic-catalogue.ts';
import { listenBare } from './bare-server.ts';
import { ADMIN_TOKEN, PAYER, type WireResponse } from './wire.ts';

const PAY_TO = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C';
const PATH = '/v1/jobs/signals';

const { values } = parseArgs({
  options: {
    kind: { type: 'string' },
    catalogue: { type: 'string' },
    response: { type: 'string' },
  },
});

function given(): WireResponse {
  if (values.response === undefined) throw new Error('--response is needed');
  return JSON.parse(readFileSync(values.response, 'utf8')) as WireResponse;
}

async function listenAsTheProjectDoes(handle: RequestHandler<MadeResponse>): Promise<number> {
  const refused = (): MadeResponse => LISTENER_BODIES.responses.make(null, 400, {});
  const bounds = { connectionsMax: 0, connectionsPerAddress: 0 };
  const answers = { handle, unreadable: refused, crowded: refused, report: console.error };
  return (await openListener({ host: '127.0.0.1', port: 0, bounds, ...answers })).port;
}

type Handler = (request: Request) => Response | Promise<Response>;

async function listenThroughAdapter(fetch: Handler): Promise<number> {
  if (isBun) return listenAsTheProjectDoes((request) => fetch(request as Request));
  const { serve } = await import('@hono/node-server');
  return new Promise((resolve) => serve({ fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(port)));
}

async function app(SIGNATURES: SignatureMode, recoveryWorker?: RecoveryWorker): Promise<number> {
  const config = CONFIGURATION.read({
    SIGNATURES,
    SNAPSHOT: values.catalogue,
    STATE_DIR: ':memory:',
    RATE_LIMIT_PER_MINUTE: '0',
    CALLBACK_LIMIT_PER_MINUTE: '0',
    KEY_RATE_LIMIT_PER_MINUTE: '0',
    LOCAL_BALANCE: '1000000000000',
    ADMIN_TOKEN,
    PAY_TO,
  });
  const ports = {
    ...appPorts({ onFailure: (failure) => console.error(failure) }),
    ...LISTENER_BODIES,
    ...(recoveryWorker === undefined ? {} : { recoveryWorker }),
  };
  const opened = await openApp({ ...config, baseUrl: 'http://127.0.0.1', hookBaseUrl: 'http://127.0.0.1' }, ports);
  return listenAsTheProjectDoes(opened.handle);
}

const bare = ({ status, headers, body }: WireResponse): Promise<number> =>
  listenBare(
    (_, outgoing) => {
      outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
    },
    () => new Response(body, { status, headers }),
  );

interface Signed {
  readonly payload: {
    readonly signature: `0x${string}`;
    readonly authorization: Readonly<Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore' | 'nonce', string>>;
  };
}

async function isSigned({ payload: { authorization, signature } }: Signed): Promise<boolean> {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  return verifyTypedData({
    address: from as `0x${string}`,
    domain: {
      name: 'USD Coin',
      version: '2',
      chainId: 8453,
      verifyingContract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    },
    types: {
      TransferWithAuthorization: [
        { name: 'from', type: 'address' },
        { name: 'to', type: 'address' },
        { name: 'value', type: 'uint256' },
        { name: 'validAfter', type: 'uint256' },
        { name: 'validBefore', type: 'uint256' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'TransferWithAuthorization',
    message: {
      from: from as `0x${string}`,
      to: to as `0x${string}`,
      value: BigInt(value),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
      nonce: nonce as `0x${string}`,
    },
    signature,
  });
}

/** The facilitator in this process answers as a remote one would, without the network. */
class InProcessFacilitator extends HTTPFacilitatorClient {
  readonly #verifies: boolean;

  constructor(verifies: boolean) {
    super();
    this.#verifies = verifies;
  }

  override async verify(payload: unknown): Promise<never> {
    const signed = payload as Signed;
    const isValid = !this.#verifies || (await isSigned(signed));
    return { isValid, payer: signed.payload.authorization.from } as never;
  }

  override async settle(payload: unknown): Promise<never> {
    const payer = (payload as Signed).payload.authorization.from;
    return { success: true, transaction: `0x${'ab'.repeat(32)}`, network: 'eip155:8453', payer } as never;
  }

  override async getSupported(): Promise<never> {
    return {
      kinds: [{ x402Version: 2, scheme: 'exact', network: 'eip155:8453' }],
      extensions: [],
      signers: {},
    } as never;
  }
}

/** The answer's JSON. */
type Ask = (role: string | null | undefined, location: string | null | undefined) => string;

/** The project's own handler of the signals route. */
function signalsHandler(): Ask {
  if (values.catalogue === undefined) throw new Error('--catalogue is needed');
  const catalogue = openCatalogue(values.catalogue);
  const served = { catalogue, isSynthetic: true };
  const services = { catalogue: { current: () => served }, clock: systemClock, memo: new AnswersMemo() };
  const handle = findSignals.handle as unknown as (input: object, given: typeof services) => object;
  return (role, location) => {
    const answer = handle({ role, location, limit: 5, period: '7d' }, services);
    return answer instanceof JsonText ? answer.text : JSON.stringify(answer);
  };
}

function free(): Promise<number> {
  const ask = signalsHandler();
  return listenThroughAdapter(({ url }) => {
    const query = new URLSearchParams(url.slice(url.indexOf('?')));
    return new Response(ask(query.get('role'), query.get('location')), {
      headers: { 'content-type': 'application/json' },
    });
  });
}

async function official(verifies: boolean): Promise<number> {
  const ask = signalsHandler();
  const resources = new x402ResourceServer(new InProcessFacilitator(verifies)).register(
    'eip155:8453',
    new ExactEvmScheme(),
  );
  const hono = new Hono();
  hono.use(
    paymentMiddleware(
      {
        [`GET ${PATH}`]: {
          accepts: { scheme: 'exact', price: '$0.09', network: 'eip155:8453', payTo: PAY_TO },
          description: 'Companies with evidence of hiring activity',
          mimeType: 'application/json',
          // The same extension as in our offer, so that both have the same size.
          extensions: { bazaar: bazaarOf(findSignals) },
        },
      },
      resources,
    ),
  );
  hono.get(PATH, (context) => {
    const { role, location } = context.req.query();
    return context.body(ask(role, location), 200, { 'content-type': 'application/json' });
  });
  return listenThroughAdapter((request) => hono.fetch(request));
}

async function serve(): Promise<number> {
  switch (values.kind) {
    case 'app':
      return app('wasm');
    case 'app-native': {
      const { library } = await chooseRecovery('auto', systemClock);
      if (library !== 'native') throw new Error('no native library: apt-get install libsecp256k1-1 (libsecp256k1-2)');
      return app('auto');
    }
    case 'app-unverified':
      return app('wasm', trustingWorker(hexToBytes(PAYER.slice(2))));
    case 'constant': {
      const { status, headers, body } = given();
      return listenThroughAdapter(() => new Response(body, { status, headers }));
    }
    case 'constant-own': {
      const { status, headers, body } = given();
      return listenAsTheProjectDoes(() => LISTENER_BODIES.responses.make(body, status, headers));
    }
    case 'bare':
      return bare(given());
    case 'free':
      return free();
    case 'official':
      return official(false);
    case 'official-viem':
      return official(true);
    default:
      throw new Error(
        '--kind must be app, app-native, app-unverified, constant, constant-own, bare, free, official or official-viem',
      );
  }
}

console.log(`listening on ${await serve()}`);
