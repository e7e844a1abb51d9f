/**
 * The metrics of the whole catalogue (`GET /v1/metrics/hiring`, siblings §4), from counts that are made once and cached.
 */
import { DAY_MS } from '../../base/durations.ts';
import type { Catalogue } from '../catalogue.ts';
import type { ObservationPeriod } from '../questions/period.ts';
import type { HiringDay, HiringMetrics } from './listing-answers.ts';

export function hiringMetrics(catalogue: Catalogue, period: ObservationPeriod): HiringMetrics {
  const { hiring } = catalogue.listing;
  const firstObservedJobs = hiring.firstObservedIn(period);
  const noLongerObservedJobs = hiring.closedIn(period);
  const byDay: HiringDay[] = [];
  for (let dayMs = Math.floor(period.startMs / DAY_MS) * DAY_MS; dayMs <= period.endMs; dayMs += DAY_MS) {
    const part = { startMs: Math.max(dayMs, period.startMs), endMs: Math.min(dayMs + DAY_MS - 1, period.endMs) };
    byDay.push({ dayMs, firstObservedJobs: hiring.firstObservedIn(part), noLongerObservedJobs: hiring.closedIn(part) });
  }
  return {
    firstObservedJobs,
    noLongerObservedJobs,
    netChange: firstObservedJobs - noLongerObservedJobs,
    byDay,
    topCompanies: hiring.topCompaniesIn(period),
    topDepartments: hiring.topDepartments,
    topSkills: hiring.topSkills,
  };
}
