/** Checks of what lies outside this process: the jobs services of a gate, and the catalogue behind an address. */
import { fetchCodeOf } from '../../adapters/outbound/connection-failure.ts';
import type { Config } from '../../app/configuration.ts';
import { literalOf } from '../../base/ip-address.ts';
import { NO_CATALOGUE } from '../../config/settings.ts';
import { AddressJudge } from '../../outbound/address-rules.ts';
import { ask } from './ask.ts';
import { type Findings, sizeText } from './finding.ts';

const TIMEOUT_MS = 5000;

export async function checkEngine(
  findings: Findings,
  { engineUrl, engineToken, snapshot, surfaces }: Config,
): Promise<void> {
  if (engineUrl === null) {
    if (engineToken === null)
      findings.skipped('no ENGINE_URL and no ENGINE_TOKEN: one process sells and has the catalogue');
    else if (snapshot === NO_CATALOGUE) findings.note('ENGINE_TOKEN and no catalogue: gates get 503', 'set SNAPSHOT');
    else findings.ok(`a jobs service; it sells ${surfaces.length === 0 ? 'nothing itself' : surfaces.join(', ')}`);
    return;
  }
  for (const url of engineUrl) {
    const headers = { authorization: `Bearer ${engineToken}` };
    const asked = await ask(`${url}/internal/v1/jobs/search?limit=1`, { headers, timeoutMs: TIMEOUT_MS });
    if (asked.kind === 'failed') {
      findings.mend(`${url} cannot be asked: ${asked.code}`, 'start the jobs service, or correct ENGINE_URL');
    } else if (asked.status === 200) findings.ok(`${url} answers`);
    else if (asked.status === 401 || asked.status === 429) {
      findings.mend(`${url} refuses the token (${asked.status})`, 'set ENGINE_TOKEN to that of the jobs service');
    } else if (asked.status === 503) findings.mend(`${url} has no catalogue yet`, 'see its log');
    else {
      const mend = 'ENGINE_URL must be a paygrade with ENGINE_TOKEN and a catalogue';
      findings.mend(`${url} answers ${asked.status}`, mend);
    }
    if (url.startsWith('http:') && !isPrivate(new URL(url).hostname)) {
      findings.note(`${url} is not https: the token travels unencrypted`, 'use a private network, or https');
    }
  }
}

/** Names without a dot or below `.internal`, and addresses that are not public. */
function isPrivate(host: string): boolean {
  const ip = literalOf(host);
  if (ip !== undefined) return new AddressJudge().refusalOf(ip) !== undefined;
  return !host.includes('.') || host.endsWith('.internal');
}

/** Reads only the head of the answer: the file can be large. */
export async function checkFetchedSnapshot(findings: Findings, { snapshot }: Config): Promise<void> {
  const { origin, pathname } = new URL(snapshot);
  const abort = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(snapshot, { signal: abort });
    const length = response.headers.get('content-length');
    await response.body?.cancel();
    if (response.status === 200) {
      const size = length === null ? 'a file of unstated size' : sizeText(Number(length));
      findings.ok(`${origin}${pathname}: ${size}; the server checks every byte before it serves it`);
      if (response.headers.get('etag') === null) {
        findings.note(
          'the address sends no ETag: the whole file is fetched at each look',
          'raise SNAPSHOT_POLL_SECONDS',
        );
      }
    } else {
      findings.mend(`${origin}${pathname} answers ${response.status}`, 'upload the file, or correct SNAPSHOT');
    }
  } catch (failure) {
    findings.mend(
      `${origin}${pathname} cannot be fetched (${fetchCodeOf(failure)})`,
      'check the name, the network and the certificate',
    );
  }
}
