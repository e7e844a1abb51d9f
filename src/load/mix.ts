/** What a run sends: the kinds of requests, the scenarios, and the order of kinds in a mix. */

const KINDS = ['health', 'unpaid', 'paid', 'webhook', 'wait', 'data'] as const;
export type Kind = (typeof KINDS)[number];

export const SCENARIOS = [...KINDS, 'mixed'] as const;
export type Scenario = (typeof SCENARIOS)[number];

/** Kind -> its share; no kind twice, no weight of zero. */
export type Mix = ReadonlyMap<Kind, number>;

/** Mostly price checks, some purchases, and webhooks, a few of them waited for. */
export const MIX_TEXT = 'unpaid=70,paid=20,webhook=8,wait=2';

const WEIGHT_MAX = 1000;
/** The greatest sum of weights that a mix can have. */
export const WEIGHT_SUM_MAX = KINDS.length * WEIGHT_MAX;
const PART = /^([a-z]+)=([1-9][0-9]{0,3})$/;

/** @returns the mix, or a sentence about the fault in the text */
export function parseMix(text: string): Mix | string {
  const mix = new Map<Kind, number>();
  for (const part of text.split(',')) {
    const [, name, weight] = PART.exec(part.trim()) ?? [];
    const kind = KINDS.find((known) => known === name);
    if (kind === undefined || Number(weight) > WEIGHT_MAX) {
      return `each part must be one of ${KINDS.join(', ')}, an equals sign and a weight from 1 to ${WEIGHT_MAX}`;
    }
    if (mix.has(kind)) return `${kind} is given twice`;
    mix.set(kind, Number(weight));
  }
  return mix;
}

export function mixOf(scenario: Scenario, mixed: Mix): Mix {
  return scenario === 'mixed' ? mixed : new Map([[scenario, 1]]);
}

/** Share of the requests that are of this kind, 0 to 1. */
export function shareOf(mix: Mix, kind: Kind): number {
  let sum = 0;
  for (const weight of mix.values()) sum += weight;
  return (mix.get(kind) ?? 0) / sum;
}

/**
 * Returns one kind per call, in proportion to its weight and evenly spread (smooth weighted round robin: the kind that
 * is furthest behind comes next). The same mix gives the same order.
 */
export function kindsInTurn(mix: Mix): () => Kind {
  const entries = [...mix].map(([kind, weight]) => ({ kind, weight, credit: 0 }));
  const sum = entries.reduce((total, { weight }) => total + weight, 0);
  return () => {
    let next = entries[0]!; // a mix is never empty
    for (const entry of entries) {
      entry.credit += entry.weight;
      if (entry.credit > next.credit) next = entry;
    }
    next.credit -= sum;
    return next.kind;
  };
}
