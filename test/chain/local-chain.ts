/**
 * A chain on this machine: anvil with the id of Base, a token with EIP-3009 at the address of its USDC (test-token.sol, compiled by solc
 * 0.8.30, optimizer 200 runs, cancun, without metadata), and the official facilitator over it, behind HTTP. What moved is what
 * the chain says.
 */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { x402Facilitator } from '@x402/core/facilitator';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import { createWalletClient, defineChain, http, parseAbi, parseEther, publicActions } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { type Started, startProcess } from '../support/server.ts';
import { until } from '../support/until.ts';
import type { Hex, Payment } from '../support/wallet.ts';

const NETWORK = 'eip155:8453';
const USDC: Hex = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913';
const CODE: Hex = `0x${readFileSync(new URL('test-token.hex', import.meta.url), 'utf8').replace(/\s/g, '')}`;
const ABI = parseAbi([
  'function mint(address to, uint256 value)',
  'function balanceOf(address) view returns (uint256)',
  'function authorizationState(address, bytes32) view returns (bool)',
]);

const clientOf = (url: string) => {
  const chain = defineChain({
    id: 8453,
    name: 'local',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  });
  const account = privateKeyToAccount(generatePrivateKey());
  return createWalletClient({ account, chain, transport: http(url), pollingInterval: 50 }).extend(publicActions);
};
type Client = ReturnType<typeof clientOf>;

export class LocalChain {
  readonly #anvil: Started;
  readonly #client: Client;
  readonly #facilitator: Server;

  private constructor(anvil: Started, client: Client, facilitator: Server) {
    this.#anvil = anvil;
    this.#client = client;
    this.#facilitator = facilitator;
  }

  /** @param binary of anvil */
  static async start(binary: string): Promise<LocalChain> {
    const anvil = startProcess(binary, ['--port', '0', '--chain-id', '8453']);
    const listening = (): string | undefined => /Listening on (\S+)/.exec(anvil.stdout())?.[1];
    await until('the chain', () => listening() !== undefined, 15_000);
    const client = clientOf(`http://${listening()}`);
    const call = (method: string, ...params: unknown[]) => client.request({ method, params } as never);
    await call('anvil_setCode', USDC, CODE);
    await call('anvil_setBalance', client.account.address, `0x${parseEther('10').toString(16)}`);
    const signer = toFacilitatorEvmSigner({ address: client.account.address, ...client } as never);
    const official = new x402Facilitator().register(NETWORK, new ExactEvmScheme(signer));
    const facilitator = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', async () => {
        const body = chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString());
        const { paymentPayload: payload, paymentRequirements: requirements } = body;
        const answers: Readonly<Record<string, () => unknown>> = {
          '/supported': () => official.getSupported(),
          '/verify': () => official.verify(payload, requirements),
          '/settle': () => official.settle(payload, requirements),
        };
        const answer = await answers[request.url ?? '']?.();
        response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(answer ?? {}));
      });
    });
    await new Promise<void>((resolve) => facilitator.listen(0, '127.0.0.1', resolve));
    return new LocalChain(anvil, client, facilitator);
  }

  get facilitatorUrl(): string {
    return `http://127.0.0.1:${(this.#facilitator.address() as AddressInfo).port}`;
  }

  async mint(to: Hex, atomic: bigint): Promise<void> {
    const hash = await this.#client.writeContract({
      address: USDC,
      abi: ABI,
      functionName: 'mint',
      args: [to, atomic],
    });
    await this.#client.waitForTransactionReceipt({ hash });
  }

  /** Atomic units. */
  balanceOf(address: Hex): Promise<bigint> {
    return this.#client.readContract({ address: USDC, abi: ABI, functionName: 'balanceOf', args: [address] });
  }

  /** Whether the authorization of a payment was used. */
  isUsed({ payload: { authorization } }: Payment): Promise<boolean> {
    const args = [authorization.from, authorization.nonce] as const;
    return this.#client.readContract({ address: USDC, abi: ABI, functionName: 'authorizationState', args });
  }

  async stop(): Promise<void> {
    this.#facilitator.closeAllConnections();
    this.#facilitator.close();
    this.#anvil.child.kill('SIGTERM');
    await this.#anvil.exited;
  }
}
