/**
 * `paygrade doctor`: checks everything that a server with this configuration needs and reports what to fix. It changes nothing
 * and takes no lock, so it can run beside the server. Exit code 0: nothing to fix; 1: something to fix; 2: usage error.
 */
import { isWebAddress } from '../adapters/files/catalogue-source.ts';
import { CONFIGURATION, type Config } from '../app/configuration.ts';
import { sizeNotices } from '../app/size-notices.ts';
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/failure.ts';
import { quantity } from '../base/grouped.ts';
import { command, EXIT_FAILED, EXIT_OK } from './command.ts';
import { checkPort, checkPublic } from './doctor/address-checks.ts';
import { checkBoards } from './doctor/board-checks.ts';
import { checkDatabase } from './doctor/database-checks.ts';
import { checkEngine, checkFetchedSnapshot } from './doctor/engine-checks.ts';
import { type Finding, Findings, type Verdict } from './doctor/finding.ts';
import { checkFacilitator, checkOffers, checkPayTo } from './doctor/settlement-checks.ts';
import { checkSnapshot, checkState } from './doctor/store-checks.ts';
import type { Io } from './io.ts';
import { nearestOf } from './nearest.ts';
import { SETTING_OPTIONS, settingsIn } from './settings.ts';

/** Shorter variable names resemble too many settings, as POST does HOST and PORT: in these only swapped letters count. */
const MISSPELT_LENGTH_MIN = 5;

const sortedLetters = (text: string): string => [...text].sort().join('');
const isSwapped = (word: string, name: string): boolean => word !== name && sortedLetters(word) === sortedLetters(name);

/** Finds environment variables that look like a setting but are none: a server silently ignores them. */
function checkNames(findings: Findings, settings: Readonly<Record<string, unknown>>, env: Io['env']): void {
  const variables = Object.keys(settings);
  const plain = (name: string): string => name.toLowerCase().replaceAll('_', '');
  for (const name of Object.keys(env)) {
    if (name in settings || !/^\w+$/.test(name)) continue;
    const nearest = nearestOf(plain(name), variables.map(plain));
    if (name.length < MISSPELT_LENGTH_MIN && !isSwapped(plain(name), nearest ?? '')) continue;
    const variable = variables.find((known) => plain(known) === nearest);
    if (variable !== undefined)
      findings.note(`${name} is no setting and changes nothing`, `if you mean ${variable}, name it so`);
  }
}

/** @returns undefined for an unusable configuration */
function checkConfiguration(
  findings: Findings,
  settings: Readonly<Record<string, string | undefined>>,
  env: Io['env'],
): Config | undefined {
  checkNames(findings, settings, env);
  const mend = '`serve --help` lists what each variable accepts';
  const faults = CONFIGURATION.faults(settings);
  for (const fault of faults) findings.mend(fault, mend);
  if (faults.length > 0) return undefined;
  const given = Object.values(settings).filter((value) => value !== undefined).length;
  findings.ok(`${quantity(given, 'variable')} set, the others at their defaults`);
  const config = CONFIGURATION.read(settings);
  for (const notice of sizeNotices(config)) findings.mend(notice, 'set it higher, or leave it at its default');
  return config;
}

interface Examined {
  readonly config: Config;
  readonly clock: Clock;
  /** A paygrade server runs at HOST and PORT; found by the check of the port. */
  isRunning: boolean;
}

/** The checks of a usable configuration, in their order. */
const CHECKS: Readonly<Record<string, (findings: Findings, examined: Examined) => void | Promise<void>>> = {
  snapshot: (findings, { config, clock }) =>
    isWebAddress(config.snapshot)
      ? checkFetchedSnapshot(findings, config)
      : checkSnapshot(findings, config, clock.nowMs()),
  engine: (findings, { config }) => checkEngine(findings, config),
  boards: (findings, { config, clock }) => checkBoards(findings, config, clock.nowMs()),
  state: (findings, { config, clock }) =>
    config.databaseUrl === null
      ? checkState(findings, config)
      : checkDatabase(findings, config.databaseUrl, config, clock),
  payTo: (findings, { config }) => checkPayTo(findings, config),
  offers: (findings, { config }) => checkOffers(findings, config),
  facilitator: (findings, { config, clock }) => checkFacilitator(findings, config, clock),
  port: async (findings, examined) => {
    examined.isRunning = await checkPort(findings, examined.config);
  },
  public: (findings, { config, isRunning }) => checkPublic(findings, config, isRunning),
};

async function examine(config: Config, { clock }: Io): Promise<readonly Finding[]> {
  const examined: Examined = { config, clock, isRunning: false };
  const found: Finding[] = [];
  for (const [name, check] of Object.entries(CHECKS)) {
    const findings = new Findings(name);
    try {
      await check(findings, examined);
    } catch (failure) {
      // A bug in one check hides no other.
      findings.mend(`the check failed: ${messageOf(failure)}`, 'report this together with the command line');
    }
    found.push(...findings.all);
  }
  return found;
}

/** Verdict -> word for people. */
const LABELS: Readonly<Record<Verdict, string>> = { ok: 'ok', note: 'note', mend: 'FIX', skipped: '-' };

export const doctor = command({
  notes: [
    'Changes nothing and takes no lock, so it can run beside the server. Reads settings from the environment and flags, as serve does.',
    'Exit code 0: nothing to fix; 1: something to fix; 2: usage error.',
  ],
  options: { ...SETTING_OPTIONS, json: { type: 'flag', help: 'one JSON object' } },
  async run({ options }, io) {
    const configuration = new Findings('configuration');
    const config = checkConfiguration(configuration, settingsIn(options, io.env), io.env);
    const findings = configuration.all;
    if (config !== undefined) findings.push(...(await examine(config, io)));
    else
      configuration.of('others').skipped(`${Object.keys(CHECKS).join(', ')}: these checks need a usable configuration`);
    const mendCount = findings.filter(({ verdict }) => verdict === 'mend').length;
    if (options.json) io.stdout.write(`${JSON.stringify({ ok: mendCount === 0, findings })}\n`);
    else {
      for (const { check, verdict, found, mend } of findings) {
        io.stderr.write(`${LABELS[verdict].padEnd(6)}${check.padEnd(15)}${found}\n`);
        if (mend !== null) io.stderr.write(`${' '.repeat(21)}-> ${mend}\n`);
      }
      io.stderr.write(mendCount === 0 ? 'nothing to fix\n' : `${mendCount} to fix\n`);
    }
    return mendCount === 0 ? EXIT_OK : EXIT_FAILED;
  },
});
