/** The routes that answer from the catalogue: sold on the base, and served to gates by a jobs service. */
import { listChanges } from './changes.ts';
import { findCompanies } from './companies.ts';
import { summarizeCompany } from './company.ts';
import { getJob } from './detail.ts';
import { describeMarket } from './market.ts';
import { searchJobs } from './search.ts';
import { findSignals } from './signals.ts';
import { listSkills } from './skills.ts';

export const ROUTES = [
  searchJobs,
  summarizeCompany,
  findSignals,
  getJob,
  listChanges,
  listSkills,
  describeMarket,
  findCompanies,
];
