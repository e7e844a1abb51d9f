/**
 * `paygrade doctor`: checks everything that a server with this configuration needs and reports what to fix. It changes nothing
 * and takes no lock, so it can run beside the server. Exit code 0: nothing to fix; 1: something to fix; 2: usage error.
 */
import { isWebAddress } from '../adapters/files/catalogue-source.ts';
import { CONFIGURATION, type Config } from '../app/configuration.ts';
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

const CHECKS_WITH_CONFIG = 'snapshot, engine, boards, state, payTo, facilitator, clock, offers, port, public';

/** Shortest variable name that may be a misspelt setting: shorter ones resemble too many. */
const MISSPELT_LENGTH_MIN = 5;

/** Finds environment variables that look like a setting but are none: a server silently ignores them. */
function checkNames(findings: Findings, settings: Readonly<Record<string, unknown>>, env: Io['env']): void {
  const variables = Object.keys(settings);
  const plain = (name: string): string => name.toLowerCase().replaceAll('_', '');
  for (const name of Object.keys(env)) {
    if (name in settings || name.length < MISSPELT_LENGTH_MIN || !/^\w+$/.test(name)) continue;
    const nearest = nearestOf(plain(name), variables.map(plain));
    const variable = variables.find((known) => plain(known) === nearest);
    if (variable !== undefined)
      findings.note(`${name} is no setting and changes nothing`, `if you mean ${variable}, name it so`);
  }
}

/** The configuration, unless it is unusable, and the findings about it. */
function checkConfiguration(
  settings: Readonly<Record<string, string | undefined>>,
  env: Io['env'],
): [Config | undefined, Finding[]] {
  const findings = new Findings('configuration');
  checkNames(findings, settings, env);
  const mend = '`serve --help` lists what each variable accepts';
  const faults = CONFIGURATION.faults(settings);
  for (const fault of faults) findings.mend(fault, mend);
  if (faults.length > 0) return [undefined, findings.all];
  const given = Object.values(settings).filter((value) => value !== undefined).length;
  findings.ok(`${quantity(given, 'variable')} set, the others at their defaults`);
  return [CONFIGURATION.read(settings), findings.all];
}

/** Runs one check, so that a bug in it hides no other. */
async function guarded(
  check: string,
  examineIt: () => readonly Finding[] | Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await examineIt();
  } catch (failure) {
    const findings = new Findings(check);
    findings.mend(`the check failed: ${messageOf(failure)}`, 'report this together with the command line');
    return findings.all;
  }
}

async function examine(config: Config, { clock }: Io): Promise<Finding[]> {
  const nowMs = (): number => clock.nowMs();
  let isRunning = false;
  const onDisk = [
    ...(await guarded('snapshot', () =>
      isWebAddress(config.snapshot) ? checkFetchedSnapshot(config) : checkSnapshot(config, nowMs()),
    )),
    ...(await guarded('engine', () => checkEngine(config))),
    ...(await guarded('boards', () => checkBoards(config, nowMs()))),
    ...(await guarded('state', () =>
      config.databaseUrl === null ? checkState(config) : checkDatabase(config.databaseUrl, config, clock),
    )),
    ...(await guarded('payTo', () => checkPayTo(config))),
    ...(await guarded('offers', () => checkOffers(config))),
  ];
  const [facilitator, port] = await Promise.all([
    guarded('facilitator', () => checkFacilitator(config, nowMs)),
    guarded('port', async () => {
      const looked = await checkPort(config);
      isRunning = looked.isRunning;
      return looked.findings;
    }),
  ]);
  return [...onDisk, ...facilitator, ...port, ...(await guarded('public', () => checkPublic(config, isRunning)))];
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
    const [config, configuration] = checkConfiguration(settingsIn(options, io.env), io.env);
    const rest = new Findings('others');
    if (config === undefined) rest.skipped(`${CHECKS_WITH_CONFIG}: these checks need a usable configuration`);
    const findings = [...configuration, ...(config === undefined ? rest.all : await examine(config, io))];
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
