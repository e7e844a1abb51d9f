/**
 * `paygrade doctor`: looks at everything that a server of this configuration needs, and says what to mend. It changes
 * nothing and takes no lock, so it can be run beside the server. Exit code 0: nothing must be mended; 1: something must; 2:
 * it was called wrongly.
 */
import { CONFIGURATION, type Config } from '../app/configuration.ts';
import { command, EXIT_FAILED, EXIT_OK } from './command.ts';
import { checkPort, checkPublic } from './doctor/address-checks.ts';
import { type Finding, Findings, type Verdict } from './doctor/finding.ts';
import { checkFacilitator, checkOffers, checkPayTo } from './doctor/settlement-checks.ts';
import { checkSnapshot, checkState } from './doctor/store-checks.ts';
import type { Io } from './io.ts';
import { SETTING_OPTIONS, settingsIn } from './settings.ts';

const CHECKS_WITH_CONFIG = 'snapshot, state, payTo, facilitator, clock, offers, port, public';

/** The configuration if it can be used, and what is wrong with it. */
function checkConfiguration(settings: Readonly<Record<string, string | undefined>>): [Config | undefined, Finding[]] {
  const findings = new Findings('configuration');
  const mend = '`serve --help` says what each variable takes';
  const faults = CONFIGURATION.faults(settings);
  for (const fault of faults) findings.mend(fault, mend);
  if (faults.length > 0) return [undefined, findings.all];
  const given = Object.values(settings).filter((value) => value !== undefined).length;
  findings.ok(`${given} variables set, the others at their defaults`);
  return [CONFIGURATION.read(settings), findings.all];
}

/** Each check on its own: a bug in one hides no other. */
async function guarded(
  check: string,
  look: () => readonly Finding[] | Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await look();
  } catch (failure) {
    const findings = new Findings(check);
    findings.mend(
      `could not be checked: ${failure instanceof Error ? failure.message : String(failure)}`,
      'report this with the command that was used',
    );
    return findings.all;
  }
}

async function examine(config: Config, { clock }: Io): Promise<Finding[]> {
  const nowMs = (): number => clock.nowMs();
  let isRunning = false;
  const onDisk = [
    ...(await guarded('snapshot', () => checkSnapshot(config, nowMs()))),
    ...(await guarded('state', () => checkState(config))),
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

const LABELS: Readonly<Record<Verdict, string>> = { ok: 'ok', note: 'note', mend: 'MEND', skipped: '-' };

export const doctor = command({
  name: 'doctor',
  summary: 'Looks at everything that a server with these settings needs and says what to mend',
  notes: [
    'Changes nothing and takes no lock: it can be run beside the server. Settings come from the environment or from flags, as for serve.',
    'Exit code 0: nothing must be mended; 1: something must; 2: called wrongly.',
  ],
  options: { ...SETTING_OPTIONS, json: { type: 'flag', help: 'one JSON object' } },
  async run({ options }, io) {
    const [config, configuration] = checkConfiguration(settingsIn(options, io.env));
    const rest = new Findings('others');
    if (config === undefined) rest.skipped(`${CHECKS_WITH_CONFIG}: they need a configuration that can be used`);
    const findings = [...configuration, ...(config === undefined ? rest.all : await examine(config, io))];
    const mendCount = findings.filter(({ verdict }) => verdict === 'mend').length;
    if (options.json) io.stdout.write(`${JSON.stringify({ ok: mendCount === 0, findings })}\n`);
    else {
      for (const { check, verdict, found, mend } of findings) {
        io.stderr.write(`${LABELS[verdict].padEnd(6)}${check.padEnd(15)}${found}\n`);
        if (mend !== null) io.stderr.write(`${' '.repeat(21)}-> ${mend}\n`);
      }
      io.stderr.write(mendCount === 0 ? 'nothing must be mended\n' : `${mendCount} to mend\n`);
    }
    return mendCount === 0 ? EXIT_OK : EXIT_FAILED;
  },
});
