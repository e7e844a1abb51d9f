/** The service module: operations about the server itself. Every surface has `/health` and `/openapi.json`. */
import { x402ListingOf } from '../../access/x402-listing.ts';
import { apiCatalogLinkOf, apiCatalogOf } from '../../http/documents/api-catalog.ts';
import { type LlmsFacts, llmsTextOf } from '../../http/documents/llms.ts';
import { openApiOf } from '../../http/documents/openapi.ts';
import { bind, type Operation } from '../../http/operation.ts';
import { defineModule, type ServerView, type SurfaceView } from '../module.ts';
import { apiCatalog, apiCatalogHead } from './api-catalog.ts';
import { health } from './health.ts';
import { llms } from './llms.ts';
import { metrics } from './metrics.ts';
import { openApi } from './openapi.ts';
import { COMPONENT_NAMES, readyWith } from './ready.ts';
import type { Documents, ServiceServices, SurfaceServices } from './services.ts';
import { x402Listing } from './x402-listing.ts';

const TAG = 'service';
const routesWith = (componentNames: readonly string[]) =>
  [readyWith(componentNames), metrics, x402Listing, apiCatalog, apiCatalogHead, llms] as const;
/** Routes that every surface has without listing this module. */
export const SURFACE_ROUTES = [health, openApi];
export const SERVICE_SUMMARY = 'Operations about the server itself, free';

/** Makes a text at the first call and memoizes it. */
function once(make: () => string): () => string {
  let text: string | undefined;
  return () => {
    text ??= make();
    return text;
  };
}

const linkOf = ({ title, description, mount }: SurfaceView): string =>
  `[${title}](${mount.baseUrl}/openapi.json): ${description}`;

/** The description in a surface's contract, Markdown. @param others surfaces that it links to */
const descriptionOf = ({ description, guide }: SurfaceView, others: readonly SurfaceView[]): string =>
  [description, ...guide, ...others.map(linkOf)].join('\n\n');

const apiOf = (view: SurfaceView): LlmsFacts => ({ ...view, baseUrl: view.mount.baseUrl });

/** The operations that every surface has without listing this module. */
export function surfaceOperations(
  view: () => SurfaceView,
  { version, apiVersion, uptimeMs, otherSurfaces }: ServerView,
  isUndocumented: boolean,
): readonly Operation[] {
  const services: SurfaceServices = {
    version,
    uptimeMs,
    openApi: once(() => {
      const { title, path, mount, tags, operations } = view();
      const description = descriptionOf(view(), path === '' ? otherSurfaces() : []);
      const facts = { title, description, tags, version: apiVersion, serverUrl: mount.baseUrl };
      return JSON.stringify(openApiOf(operations, facts));
    }),
  };
  return bind(TAG, isUndocumented ? [health] : SURFACE_ROUTES, services);
}

/** The operations of a server without any product, beside its health (siblings §1). */
export const processOnly = defineModule({
  tag: TAG,
  settings: {},
  routes: [readyWith(COMPONENT_NAMES), metrics],
  open: ({ server: { componentNames, isLeaving, metricsText, readiness }, shedding }) => ({
    operations: bind(TAG, [readyWith(componentNames), metrics], { readiness, isLeaving, metricsText, shedding }),
  }),
});

export const service = defineModule({
  tag: TAG,
  summary: SERVICE_SUMMARY,
  settings: {},
  routes: routesWith(COMPONENT_NAMES),
  open({ server, surface, paid, shedding }) {
    const { mount, view } = surface;
    const { otherSurfaces, readiness, isLeaving, metricsText } = server;
    const documents: Documents = {
      x402Listing: once(() => JSON.stringify(x402ListingOf([view(), ...otherSurfaces()], paid.seller))),
      apiCatalog: once(() => JSON.stringify(apiCatalogOf(apiOf(view()), otherSurfaces().map(apiOf)))),
      apiCatalogLink: () => apiCatalogLinkOf(mount.baseUrl),
      llms: once(() => llmsTextOf(apiOf(view()), otherSurfaces().map(apiOf))),
    };
    const services: ServiceServices = { documents, readiness, isLeaving, metricsText, shedding };
    return { operations: bind(TAG, routesWith(server.componentNames), services) };
  },
});
