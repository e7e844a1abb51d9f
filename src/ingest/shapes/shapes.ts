/**
 * The source shapes that `import` and `snapshot build` read, in the order in which `auto` tries them: a shape whose marks
 * another shape's records may also have comes after that shape. To add one: write `<name>.ts` with a `defineShape` in it and
 * list it here. Everything else (help, checks, reports, rejects) follows from this list.
 */
import { arbeitnowShape } from './arbeitnow.ts';
import { ashbyShape } from './ashby.ts';
import { greenhouseShape } from './greenhouse.ts';
import { jobspyShape } from './jobspy.ts';
import { jsonldShape } from './jsonld.ts';
import { leverShape } from './lever.ts';
import { linkedinShape } from './linkedin.ts';
import { listingShape } from './listing.ts';
import { nativeShape } from './native.ts';
import { recruiteeShape } from './recruitee.ts';
import { remoteokShape } from './remoteok.ts';
import { remotiveShape } from './remotive.ts';
import type { Shape } from './shape.ts';
import { simplifyShape } from './simplify.ts';
import { smartrecruitersShape } from './smartrecruiters.ts';
import { teamtailorShape } from './teamtailor.ts';
import { themuseShape } from './themuse.ts';
import { usajobsShape } from './usajobs.ts';
import { workableShape } from './workable.ts';
import { workdayShape } from './workday.ts';

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

/** @throws Error when the list has no shape of this name: a bug in the caller */
export function shapeNamed(name: string): Shape {
  const found = SHAPES.find((shape) => shape.name === name);
  if (found === undefined) throw new Error(`no shape is called ${name}`);
  return found;
}
