/** What a policy says to the table of targets; run under both runtimes. */
import { parseIpRange } from '../../src/base/ip-address.ts';
import { ADDRESS_RULES, type AddressRules } from '../../src/outbound/address-rules.ts';
import { OutboundPolicy, type PolicyOptions } from '../../src/outbound/policy.ts';
import { TARGET_RULES, type TargetRules } from '../../src/outbound/target-rules.ts';
import { NOTHING_ALLOWED } from '../support/nothing-allowed.ts';
import { OWN_HOOKS, OWN_PORT, OWN_RANGES, OWN_URLS, ROWS, type Row } from './targets.ts';

export const RULES: TargetRules & AddressRules = { ...TARGET_RULES, ...ADDRESS_RULES };

export const OWN: PolicyOptions['own'] = {
  urls: OWN_URLS,
  hookBaseUrl: OWN_HOOKS,
  listening: { ranges: OWN_RANGES.flatMap((cidr) => parseIpRange(cidr) ?? []), port: OWN_PORT },
};

/** `allowed`, or the rule that refuses. */
export function verdictOf(policy: OutboundPolicy, [text, purpose]: Row): string {
  const judged = policy.judge(text, purpose);
  return judged.ok ? 'allowed' : (judged.rule ?? '');
}

/** Rows to which the policy says something else than they expect, one line each. */
export function wrongVerdicts(rules: TargetRules & AddressRules = RULES): string[] {
  const policy = new OutboundPolicy({ own: OWN, allow: NOTHING_ALLOWED, rules });
  return ROWS.flatMap((row) => {
    const verdict = verdictOf(policy, row);
    return verdict === row[2] ? [] : [`${JSON.stringify(row[0])} for ${row[1]}: ${verdict}, not ${row[2]}`];
  });
}

/** Whether a policy says to every row what it expects. */
export function isTableMet(rules: TargetRules & AddressRules): boolean {
  const policy = new OutboundPolicy({ own: OWN, allow: NOTHING_ALLOWED, rules });
  return ROWS.every((row) => verdictOf(policy, row) === row[2]);
}
