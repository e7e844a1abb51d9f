/**
 * The pages module: pages for people. They are not operations of the API and appear in no document for programs; for a request
 * that does not accept HTML their paths do not exist.
 */

import type { SurfaceName } from '../../config/surfaces.ts';
import { bind } from '../../http/operation.ts';
import { defineModule } from '../module.ts';
import { boards } from './boards.ts';
import { docs } from './docs.ts';
import { pageFile } from './file.ts';
import { home } from './home.ts';
import { inbox } from './inbox.ts';
import { sales } from './sales.ts';
import type { PageServices } from './services.ts';

const ROUTES = [home, docs, pageFile];
/** Pages of the callbacks. */
const CALLBACK_ROUTES = [inbox];
/** Pages of the operator, which exist only with `ADMIN_TOKEN`. */
const OPERATOR_ROUTES = [sales];
/** Pages of the operator that need `CATALOGUE` too. */
const BOARD_ROUTES = [boards];

export const pages = defineModule({
  tag: 'pages',
  settings: {},
  routes: [...ROUTES, ...CALLBACK_ROUTES, ...OPERATOR_ROUTES, ...BOARD_ROUTES],
  open({ config, server, surface, catalogue, remoteCatalogue, clock, paid, pageFiles, hookBaseUrl, watchedBoards }) {
    const has = (product: SurfaceName): boolean => config.surfaces.includes(product);
    const services: PageServices = {
      catalogue,
      remoteCatalogue,
      clock,
      files: pageFiles,
      operations: () => surface.view().operations,
      otherSurfaces: server.otherSurfaces,
      has,
      facts: {
        version: server.version,
        baseUrl: surface.mount.baseUrl,
        hookBaseUrl,
        network: paid.seller.network,
        isPlay: config.settlement === 'local',
        payTo: paid.seller.payTo,
      },
    };
    const routes = [
      ...ROUTES,
      ...(has('callbacks') ? CALLBACK_ROUTES : []),
      ...(config.adminToken === null ? [] : OPERATOR_ROUTES),
      ...(config.adminToken === null || watchedBoards === null ? [] : BOARD_ROUTES),
    ];
    return { operations: bind('pages', routes, services) };
  },
});
