/**
 * The one list of surfaces and of the modules on each. A new module or surface is a folder in `modules/` and a line here.
 */
import { admin } from '../modules/admin/module.ts';
import { callbacks } from '../modules/callbacks/module.ts';
import { jobs } from '../modules/jobs/module.ts';
import type { Module } from '../modules/module.ts';
import { pages } from '../modules/pages/module.ts';
import { payments } from '../modules/payments/module.ts';
import { service } from '../modules/service/module.ts';

export interface SurfaceDefinition {
  /** Label of metrics and log; null for the base. */
  readonly name: string | null;
  readonly title: string;
  readonly description: string;
  /** Path below the base address at which the surface always answers; empty for the base. */
  readonly path: '' | `/${string}`;
  /** Setting with its public address, for a surface that may have another host; otherwise the address is base and path. */
  readonly urlSetting?: string;
  readonly modules: readonly Module[];
}

export const SURFACES = [
  {
    name: null,
    title: 'paygrade',
    description: 'Answers about hiring, one paid request at a time, and webhook addresses for ten minutes.',
    path: '',
    modules: [jobs, callbacks, payments, admin, service, pages],
  },
] as const satisfies readonly SurfaceDefinition[];

/** Every module once, in the order of their settings in `--help` and the documents. */
export const MODULES = [...new Set(SURFACES.flatMap(({ modules }) => [...modules]))];
