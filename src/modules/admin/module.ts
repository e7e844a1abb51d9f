/**
 * The admin module: operations of the operator. They exist only with `ADMIN_TOKEN` and appear in no public document, because the
 * module has no summary. Every one of them lists the way in `adminToken`, and its path begins with `/admin/` (app/cors.ts).
 */
import { operatorOf } from '../../access/admin-token.ts';
import { bind } from '../../http/operation.ts';
import { defineModule } from '../module.ts';
import { listSales } from './sales.ts';
import { listSalesDays } from './sales-days.ts';
import type { AdminModuleServices } from './services.ts';

const TAG = 'admin';
const ROUTES = [listSales, listSalesDays];

export const admin = defineModule({
  tag: TAG,
  settings: {},
  routes: ROUTES,
  open({ config, books, clock, rateLimits }) {
    const { adminToken } = config;
    if (adminToken === null) return { operations: [] };
    const services: AdminModuleServices = { operator: operatorOf(adminToken, rateLimits), books, clock };
    return { operations: bind(TAG, ROUTES, services) };
  },
});
