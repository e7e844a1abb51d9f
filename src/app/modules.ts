/**
 * The one list of surfaces and of the modules on each. A new module or surface is a folder in `modules/` and a line here.
 */
import { SURFACE_NAMES, type SurfaceName } from '../config/surfaces.ts';
import { admin } from '../modules/admin/module.ts';
import { callbacks } from '../modules/callbacks/module.ts';
import { data } from '../modules/data/module.ts';
import { internal } from '../modules/jobs/internal.ts';
import { jobs } from '../modules/jobs/module.ts';
import type { Module } from '../modules/module.ts';
import { pages } from '../modules/pages/module.ts';
import { payments } from '../modules/payments/module.ts';
import { resolve } from '../modules/resolve/module.ts';
import { retry } from '../modules/retry/module.ts';
import { processOnly, service } from '../modules/service/module.ts';

export interface SurfaceDefinition {
  /** Label of metrics and log; null for the base. */
  readonly name: string | null;
  readonly title: string;
  readonly description: string;
  /** Path below the base address at which the surface always answers; empty for the base. */
  readonly path: '' | `/${string}`;
  /** Setting with its public address, for a surface that may have its own host; otherwise the base's address plus `path`. */
  readonly urlSetting?: string;
  readonly modules: readonly Module[];
  /** True: it has no contract, because it sells nothing. */
  readonly isUndocumented?: boolean;
}

/** The products that the base sells: their modules, and what they add to its description. */
const BASE_PRODUCTS = [
  { name: 'jobs', module: jobs, has: 'answers about hiring, one paid request at a time' },
  { name: 'callbacks', module: callbacks, has: 'webhook addresses for ten minutes' },
] as const satisfies readonly { readonly name: SurfaceName; readonly module: Module; readonly has: string }[];

/** The description of a base with the products that were chosen. */
function baseDescription(chosen: readonly SurfaceName[]): string {
  const has = BASE_PRODUCTS.filter(({ name }) => chosen.includes(name)).map((product) => product.has);
  const [first = 'the operations about this server itself', ...others] = has;
  return `${first.charAt(0).toUpperCase()}${[first.slice(1), ...others].join(', and ')}.`;
}

export const SURFACES = [
  {
    name: null,
    title: 'paygrade',
    description: baseDescription(SURFACE_NAMES),
    path: '',
    modules: [jobs, callbacks, payments, admin, service, pages, internal],
  },
  {
    name: 'data',
    title: 'paygrade Jobs Data API',
    description:
      'Jobs, companies, skills and history over the whole catalogue, for holders of an API key; answers consume credits.',
    path: '/data',
    urlSetting: 'dataUrl',
    modules: [data],
  },
  {
    name: 'retry',
    title: 'paygrade Retry API',
    description: 'Sends a request until it works, and tells your webhook, for holders of an API key or for a payment.',
    path: '/retry',
    urlSetting: 'retryUrl',
    modules: [retry],
  },
  {
    name: 'resolve',
    title: 'paygrade Resolve API',
    description: 'What is behind an address: metadata, readable text and links, for one payment.',
    path: '/resolve',
    urlSetting: 'resolveUrl',
    modules: [resolve],
  },
] as const satisfies readonly SurfaceDefinition[];

/** Whether a surface stays: the base does, and one that is no product. */
const isOn = (name: string | null, chosen: readonly string[]): boolean =>
  name === null || !(SURFACE_NAMES as readonly string[]).includes(name) || chosen.includes(name);

/**
 * The surfaces with the products that `SURFACES` chose (siblings §1); modules that belong to no product always stay. Without
 * any product the base has only the operations about the process.
 */
export function chosenSurfaces(
  definitions: readonly SurfaceDefinition[],
  chosen: readonly SurfaceName[],
): readonly SurfaceDefinition[] {
  const left: readonly Module[] = BASE_PRODUCTS.filter(({ name }) => !chosen.includes(name)).map(
    ({ module }) => module,
  );
  return definitions
    .filter(({ name }) => isOn(name, chosen))
    .map((definition) => {
      if (definition.name !== null) return definition;
      if (chosen.length === 0) return { ...definition, modules: [processOnly, internal], isUndocumented: true };
      const modules = definition.modules.filter((module) => !left.includes(module));
      return { ...definition, modules, description: baseDescription(chosen) };
    });
}

/** Every module once. */
export const MODULES = [...new Set(SURFACES.flatMap(({ modules }) => [...modules]))];
