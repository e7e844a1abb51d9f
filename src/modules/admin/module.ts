/**
 * The admin module: operations of the operator. They exist only with `ADMIN_TOKEN` and appear in no public document, because the
 * module has no summary. Every one of them lists the way in `adminToken`, and its path begins with `/admin/` (app/cors.ts).
 */
import { secretHolderOf } from '../../access/secret-token.ts';
import { bind } from '../../http/operation.ts';
import { defineModule } from '../module.ts';
import { createGrant } from './create-grant.ts';
import { createKey } from './create-key.ts';
import { listKeys } from './list-keys.ts';
import { revokeKey } from './revoke-key.ts';
import { listSales } from './sales.ts';
import { listSalesDays } from './sales-days.ts';
import type { AdminModuleServices } from './services.ts';
import { showOrganization } from './show-organization.ts';

const TAG = 'admin';
const ROUTES = [listSales, listSalesDays, createKey, listKeys, revokeKey, createGrant, showOrganization];

export const admin = defineModule({
  tag: TAG,
  settings: {},
  routes: ROUTES,
  open({ config, accounts, bodies, books, clock, rateLimits }) {
    const { adminToken } = config;
    if (adminToken === null) return { operations: [] };
    const operator = secretHolderOf(adminToken, 'wrong admin tokens', rateLimits);
    const services: AdminModuleServices = { operator, accounts, bodies, books, clock };
    return { operations: bind(TAG, ROUTES, services) };
  },
});
