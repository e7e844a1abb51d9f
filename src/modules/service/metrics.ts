/** GET /metrics: counts since the start and gauges, Prometheus text format 0.0.4 (decisions §6). Open, like /health. */
import * as v from 'valibot';
import { Reply } from '../../http/answers.ts';
import { route } from '../../http/route.ts';
import type { ProcessServices } from './services.ts';

export const metrics = route<ProcessServices>()({
  operation: 'metrics',
  method: 'GET',
  path: '/metrics',
  summary: 'Counts and gauges for Prometheus',
  access: [],
  answer: v.string(),
  answerType: 'text/plain',
  errors: [],
  handle: (_, services) =>
    new Reply(services.metricsText(), { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }),
});
