/**
 * The contract suite (`test/contract`) against three processes on one PostgreSQL behind a round-robin proxy: each of its tests is
 * reported here as its own. Where a test brings a clock, targets or a facilitator, three apps in one process take the place of
 * the processes (test/support/opened-fleet.ts).
 */
import { describe, expect, it } from 'vitest';
import { CONTRACT_FILES, contractReport } from '../support/contract-report.ts';
import { SERVER } from '../support/postgres-database.ts';

/** Tests that cannot run so, by a part of their titles, and why. */
const RATE = 'a limit of a few holds within one for each process (siblings §9)';
const OWN = 'it asks one app for what that one holds or has counted';
const FOLDER = 'it is about a state folder';
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'counts against the rate of the jobs routes': RATE,
  'checks in the order path, method, key, scope': RATE,
  'counts the rate by key': RATE,
  'counts the requests of a key on all surfaces together': RATE,
  'needs a question, takes nothing else, and counts by address': RATE,
  'counts against the rate of the client': RATE,
  'limits creations of one address before payment': RATE,
  'refused after thirty that ended uncharged': RATE,
  'looks the names up after the payment': RATE,
  'the usage rate, under node': RATE,
  'over the usage rate a good payment is 429': RATE,
  'are read and cancelled within the rate of a key': RATE,
  'limited to 600 reads': 'reads hold within a tenth (siblings §9)',
  'counts by client': RATE,
  'an unknown path is the Error object too': 'fetch asks for any media type, so the base is the home page',
  'holds 64 waits on one callback': 'sixty-four waits are those of a process (siblings §9)',
  'of a payer who has half of all places under way': 'places for resolves are those of a process',
  'offers nothing to a third': 'a process knows of room as it last saw it; the claim decides',
  'buys one callback with one authorization, however often': OWN,
  'forged creations in flight: an honest one finds room': OWN,
  'gives the room back when the settlement refuses': OWN,
  'that meets a deletion leaves nothing': OWN,
  'from 85 % of the memory no offer is made': OWN,
  'from 92 % no payment is accepted': OWN,
  'a loop that is late sheds as memory does': OWN,
  'shows in /ready without changing its status, and in the metrics': OWN,
  'an app that does not measure its memory': 'a process measures its own',
  'another question and another payer under a live identifier': OWN,
  'ten minutes after the settlement the identifier is free': OWN,
  'frees the authorization when the room was claimed': OWN,
  'of many requests at once under one identifier': OWN,
  'a state folder used with both': FOLDER,
  'hold after a restart on the same folder': FOLDER,
  'is open, and after it, also over a restart': FOLDER,
  'about a job whose record is damaged': FOLDER,
  'is off at a public address unless SURFACES names it': OWN,
  'begins its description with [play money]': 'its facilitator is away, so no process is ready and the proxy has none',
};

const OPENER = new URL('../support/opened-fleet.ts', import.meta.url).href;
/** Three processes start in the time of a test. */
const TIMEOUT_MS = 120_000;

const exceptionOf = (title: string): string | undefined =>
  Object.entries(EXCEPTIONS).find(([part]) => title.includes(part))?.[1];

const files =
  SERVER === undefined
    ? []
    : await contractReport('node', CONTRACT_FILES, { PAYGRADE_TEST_OPENER: OPENER }, TIMEOUT_MS);

describe.skipIf(SERVER === undefined)('the contract suite against three processes', () => {
  it('has run', () => {
    expect(files.length).toBe(CONTRACT_FILES.length);
    for (const { name, message, assertionResults } of files) {
      expect({ name, message, isEmpty: assertionResults.length === 0 }).toEqual({ name, message: '', isEmpty: false });
    }
  });

  it('has no exception without a test', () => {
    const titles = files.flatMap(({ assertionResults }) =>
      assertionResults.map(({ ancestorTitles, title }) => [...ancestorTitles, title].join(' > ')),
    );
    expect(Object.keys(EXCEPTIONS).filter((part) => !titles.some((title) => title.includes(part)))).toEqual([]);
  });

  for (const { assertionResults } of files) {
    for (const { ancestorTitles, title, status, failureMessages } of assertionResults) {
      const whole = [...ancestorTitles, title].join(' > ');
      it.skipIf(exceptionOf(whole) !== undefined)(whole, () => {
        if (status !== 'passed') throw new Error([status, ...failureMessages].join('\n'));
      });
    }
  }
});
