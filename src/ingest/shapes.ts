/**
 * The source shapes that `import` and `snapshot build` read, in the order in which `auto` tries them: a shape whose marks
 * could also stand in another one's records comes after it. To add one: write `shape-<name>.ts` with a `Shape` in it, and
 * name it here. Everything else (help, checks, reports, rejects) follows from this list.
 */
import type { Shape } from './shape.ts';
import { arbeitnowShape } from './shape-arbeitnow.ts';
import { ashbyShape } from './shape-ashby.ts';
import { greenhouseShape } from './shape-greenhouse.ts';
import { jobspyShape } from './shape-jobspy.ts';
import { jsonldShape } from './shape-jsonld.ts';
import { leverShape } from './shape-lever.ts';
import { linkedinShape } from './shape-linkedin.ts';
import { listingShape } from './shape-listing.ts';
import { nativeShape } from './shape-native.ts';
import { recruiteeShape } from './shape-recruitee.ts';
import { remoteokShape } from './shape-remoteok.ts';
import { remotiveShape } from './shape-remotive.ts';
import { simplifyShape } from './shape-simplify.ts';
import { smartrecruitersShape } from './shape-smartrecruiters.ts';
import { teamtailorShape } from './shape-teamtailor.ts';
import { themuseShape } from './shape-themuse.ts';
import { usajobsShape } from './shape-usajobs.ts';
import { workableShape } from './shape-workable.ts';
import { workdayShape } from './shape-workday.ts';

export const SHAPES: readonly Shape[] = [
  nativeShape,
  ashbyShape,
  greenhouseShape,
  leverShape,
  smartrecruitersShape,
  workableShape,
  recruiteeShape,
  teamtailorShape,
  workdayShape,
  usajobsShape,
  jobspyShape,
  linkedinShape,
  simplifyShape,
  jsonldShape,
  remotiveShape,
  remoteokShape,
  arbeitnowShape,
  themuseShape,
  listingShape,
];
