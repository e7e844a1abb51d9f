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

export const pages = defineModule({
  tag: 'pages',
  settings: {},
  operatorPaths: ['/boards', '/sales'],
  routes: [home, docs, pageFile, inbox, sales, boards],
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
    const hasOperator = config.adminToken !== null;
    const routes = [
      ...[home, docs, pageFile],
      ...(has('callbacks') ? [inbox] : []),
      ...(hasOperator ? [sales] : []),
      ...(hasOperator && watchedBoards !== null ? [boards] : []),
    ];
    return { operations: bind('pages', routes, services) };
  },
});
