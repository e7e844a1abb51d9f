/**
 * Connections by Bun's `fetch`, which keeps them open and by itself repeats a request that met a connection just closed.
 */
import { fetchCodeOf } from '../outbound/connection-failure.ts';
import {
  BodyCollector,
  type Connections,
  CUT,
  type Exchanged,
  headersWith,
  type PendingExchange,
  SWITCHED,
  statesTooMuch,
  TOO_LONG,
} from './exchange.ts';

/** Bun's error code for an answer of status 101, which its `fetch` does not return. */
const NOT_ASKED_TO_SWITCH = 'UnrequestedUpgrade';

export class FetchConnections implements Connections {
  readonly #baseUrl: string;
  readonly #headers: Readonly<Record<string, string>>;

  /** @param baseUrl http or https, no trailing slash @param token of the jobs services */
  constructor(baseUrl: string, token: string) {
    this.#baseUrl = baseUrl;
    this.#headers = headersWith(token);
  }

  get(target: string): PendingExchange {
    const abort = new AbortController();
    return { done: this.#exchange(target, abort), abort: () => abort.abort() };
  }

  close(): void {}

  async #exchange(target: string, abort: AbortController): Promise<Exchanged> {
    let response: Response | undefined;
    try {
      response = await fetch(this.#baseUrl + target, {
        headers: this.#headers,
        redirect: 'manual',
        signal: abort.signal,
        decompress: false,
      } as RequestInit);
      if (statesTooMuch(response.headers.get('content-length'))) {
        abort.abort();
        return TOO_LONG;
      }
      const body = new BodyCollector();
      for await (const chunk of response.body ?? []) {
        // Leaving the loop ends the body.
        if (!body.add(chunk)) return TOO_LONG;
      }
      return body.exchanged(response.status);
    } catch (failure) {
      if (response !== undefined) return CUT;
      const code = fetchCodeOf(failure);
      return code === NOT_ASKED_TO_SWITCH ? SWITCHED : { kind: 'lost', detail: code };
    }
  }
}

/** The variables by which Bun's `fetch` takes a proxy. */
const PROXY_VARIABLES = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy'];

/** Whether this runtime asks through `fetch`. */
export const asksByFetch = (): boolean =>
  process.versions.bun !== undefined && PROXY_VARIABLES.every((name) => (process.env[name] ?? '') === '');
