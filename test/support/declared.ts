/** The declared operations of the base surface, for tests that read declarations and call no handler. */
import { priceOf } from '../../src/access/x402.ts';
import { SURFACES } from '../../src/app/modules.ts';
import { NOT_FOUND } from '../../src/http/errors.ts';
import { errorsOf, type Operation } from '../../src/http/operation.ts';
import type { Route } from '../../src/http/route.ts';
import type { Module } from '../../src/modules/module.ts';
import { SERVICE_SUMMARY, SURFACE_ROUTES } from '../../src/modules/service/module.ts';

/** The webhook base address of the contract test. */
export const HOOK_URL = 'https://hooks.example';

function declared(tag: string, route: Route): Operation {
  const publicUrl = route.path.startsWith('/hooks/') ? HOOK_URL : undefined;
  const mount = (): never => {
    throw new Error('a declaration alone is not served');
  };
  return { ...route, tag, publicUrl, mount };
}

const [base, ...others] = SURFACES;
const MODULES = base.modules;

const operationsWithTag = (wanted: string): readonly Operation[] =>
  MODULES.filter(({ tag }) => tag === wanted).flatMap(({ tag, routes }: Module) =>
    routes.map((route) => declared(tag, route)),
  );

/** The operations of the operator and of gates, which no public document names. */
export const ADMIN_OPERATIONS = operationsWithTag('admin');
export const INTERNAL_OPERATIONS = operationsWithTag('internal');

type Modules = readonly Module[];

const publishedIn = (modules: Modules): Modules => modules.filter(({ summary }) => summary !== undefined);

const operationsOf = (modules: Modules): readonly Operation[] => [
  ...publishedIn(modules).flatMap(({ tag, routes }) => routes.map((route) => declared(tag, route))),
  ...SURFACE_ROUTES.map((route) => declared('service', route as Route)),
];

const tagsOf = (modules: Modules): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(publishedIn(modules).map(({ tag, summary = '' }) => [tag, summary])),
  service: SERVICE_SUMMARY,
});

/** Every published operation of the base. */
export const OPERATIONS: readonly Operation[] = operationsOf(MODULES);

export const TAGS: Readonly<Record<string, string>> = tagsOf(MODULES);

export interface DeclaredSurface {
  readonly title: string;
  /** Below the base. */
  readonly path: string;
  readonly operations: readonly Operation[];
  readonly tags: Readonly<Record<string, string>>;
}

/** The surfaces other than the base, with their published operations. */
export const OTHER_SURFACES: readonly DeclaredSurface[] = others.map(({ modules, path, title }) => ({
  title,
  path,
  operations: operationsOf(modules),
  tags: tagsOf(modules),
}));

export const isPaid = ({ access }: Pick<Operation, 'access'>): boolean => priceOf(access) !== undefined;

const pages = MODULES.flatMap(({ routes }) => routes).filter(({ variant }) => variant !== undefined);

/** Paths that exist only for requests that ask for HTML. */
export const PAGE_PATHS: ReadonlySet<string> = new Set(pages.map(({ path }) => path));

export const PAGE_ROUTES: readonly Route[] = MODULES.flatMap(({ tag, routes }) => (tag === 'pages' ? routes : []));

/** Every error code of every surface; an unknown path has one that no operation needs. */
export const ERROR_CODES: readonly string[] = [
  ...new Set([
    NOT_FOUND.code,
    ...[...OPERATIONS, ...OTHER_SURFACES.flatMap(({ operations }) => operations)].flatMap((operation) =>
      errorsOf(operation).map(({ code }) => code),
    ),
  ]),
];
