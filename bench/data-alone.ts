/**
 * The answers of the Jobs Data API without a server around them: from a question (path and query) to the response's text, with the
 * filters, the cursor's code, the page and its JSON. Left out: request and response, key, rate and charge.
 */
import { ok } from 'node:assert/strict';
import { ChargedAnswer } from '../src/access/credits.ts';
import { SURFACES, type SurfaceDefinition } from '../src/app/modules.ts';
import { JsonText } from '../src/http/answers.ts';
import { Refusal } from '../src/http/errors.ts';
import type { MountedOperation } from '../src/http/operation.ts';
import type { RequestView } from '../src/http/request-view.ts';
import { pathFinder } from '../src/http/router.ts';
import { data } from '../src/modules/data/module.ts';
import { defineModule } from '../src/modules/module.ts';

export interface AnswersAlone {
  /** The server's surfaces, for the app that serves the catalogue. */
  readonly surfaces: readonly SurfaceDefinition[];
  /** @param path below the surface */
  ask(path: string): string;
}

const REQUEST_ID = 'req_00000000-0000-4000-8000-000000000000';

export function answersAlone(): AnswersAlone {
  let operations: readonly MountedOperation[] = [];
  // The module's operations a second time, with separate caches.
  const alone = defineModule({
    tag: 'alone',
    settings: {},
    routes: [],
    open(context) {
      const opened = data.open(context as Parameters<typeof data.open>[0]);
      ok(!(opened instanceof Promise));
      operations = opened.operations.map((operation) => operation.mount({ labels: {}, baseUrl: '' }));
      return { operations: [] };
    },
  });
  let find: ReturnType<typeof pathFinder<MountedOperation>> | undefined;
  return {
    surfaces: SURFACES.map((surface) =>
      surface.name === 'data' ? { ...surface, modules: [...surface.modules, alone] } : surface,
    ),
    ask(target) {
      find ??= pathFinder(operations);
      const at = target.indexOf('?');
      const path = at < 0 ? target : target.slice(0, at);
      const match = find(path);
      const operation = match?.table.methods.get('GET');
      ok(match !== undefined && operation !== undefined, `no operation at ${path}`);
      const view = { requestId: REQUEST_ID, path, params: match.params } as RequestView;
      const input = operation.decodeQuery?.(at < 0 ? '' : target.slice(at)) ?? {};
      if (input instanceof Refusal) throw new Error(input.message);
      const bent = operation.check?.(input, view);
      if (bent !== undefined) throw new Error(bent.message);
      const answer = operation.handle(input, view, {});
      ok(answer instanceof ChargedAnswer, `${path} gave no answer`);
      answer.charged = { charged: answer.cost, remaining: 1_000_000 };
      const body: unknown = answer.create();
      ok(body instanceof JsonText);
      return body.text;
    },
  };
}
