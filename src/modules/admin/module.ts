/**
 * The admin module: operations of the operator. They exist only with `ADMIN_TOKEN`, those about boards only with `CATALOGUE` too,
 * and appear in no public document, because the module has no summary. Every one of them lists the way in `adminToken`, and its
 * path begins with `/admin/`.
 */
import { secretHolderOf } from '../../access/secret-token.ts';
import { bind } from '../../http/operation.ts';
import { defineModule } from '../module.ts';
import { listBoards } from './boards.ts';
import { createGrant } from './create-grant.ts';
import { createKey } from './create-key.ts';
import { listKeys } from './list-keys.ts';
import { revokeKey } from './revoke-key.ts';
import { listSales } from './sales.ts';
import { listSalesDays } from './sales-days.ts';
import type { AdminModuleServices, BoardsServices } from './services.ts';
import { showOrganization } from './show-organization.ts';
import { stateDomain } from './state-domain.ts';

const TAG = 'admin';
const ROUTES = [listSales, listSalesDays, createKey, listKeys, revokeKey, createGrant, showOrganization];
/** With `CATALOGUE`. */
const BOARD_ROUTES = [listBoards, stateDomain];

export const admin = defineModule({
  tag: TAG,
  settings: {},
  operatorPaths: ['/admin'],
  routes: [...ROUTES, ...BOARD_ROUTES],
  open({ config, accounts, bodies, books, catalogue, clock, rateLimits, watchedBoards }) {
    const { adminToken } = config;
    if (adminToken === null) return { operations: [] };
    const operator = secretHolderOf(adminToken, 'wrong admin tokens', rateLimits);
    const services: AdminModuleServices = { operator, accounts, bodies, books, clock };
    const operations = bind(TAG, ROUTES, services);
    if (watchedBoards === null) return { operations };
    const boardServices: BoardsServices = { operator, bodies, boards: watchedBoards, catalogue, clock };
    return { operations: [...operations, ...bind(TAG, BOARD_ROUTES, boardServices)] };
  },
});
