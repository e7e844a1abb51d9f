/**
 * The source shapes that `snapshot build --format` reads. To add one: write `shape-<name>.ts` with a `Shape` in it, and
 * name it here. Everything else (help, checks, reports, rejects) follows from this list.
 */
import type { Shape } from './shape.ts';
import { ashbyShape } from './shape-ashby.ts';
import { simplifyShape } from './shape-simplify.ts';

export const SHAPES: readonly Shape[] = [ashbyShape, simplifyShape];
