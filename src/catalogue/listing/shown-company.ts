/** A company as the lists show it. */
import type { Snapshot } from '../snapshot/snapshot.ts';
import type { ShownCompany } from './listing-answers.ts';

export const shownCompany = (snapshot: Snapshot, company: number): ShownCompany => ({
  name: snapshot.shownNameOf(company),
  domain: snapshot.domainOf(company),
});
