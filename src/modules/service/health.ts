/** GET /health: 200 while the process can answer (decisions §6). */
import * as v from 'valibot';
import { route } from '../../http/route.ts';
import { count } from '../answer-values.ts';
import type { SurfaceServices } from './services.ts';

export const health = route<SurfaceServices>()({
  operation: 'health',
  method: 'GET',
  path: '/health',
  summary: 'Whether the process can answer',
  access: [],
  answer: v.strictObject({
    status: v.literal('ok'),
    version: v.string(),
    uptime_seconds: count,
  }),
  errors: [],
  examples: { answer: { status: 'ok', version: '1.0.0', uptime_seconds: 3600 } },
  handle: (_, { version, uptimeMs }) => ({
    status: 'ok' as const,
    version,
    uptime_seconds: Math.floor(uptimeMs() / 1000),
  }),
});
