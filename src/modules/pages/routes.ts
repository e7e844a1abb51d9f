/**
 * The pages for people. They are no operations of the API: they are not in `/openapi.json` nor in any other document for
 * programs, and this list is the one place that says so. A page is there for who asks for HTML; to every other request
 * its path stays as unknown as it was.
 */
import type { Route } from '../../http/route.ts';
import { docs } from './docs.ts';
import { pageFile } from './file.ts';
import { home } from './home.ts';
import { inbox } from './inbox.ts';
import type { PageServices } from './services.ts';

export const PAGE_ROUTES: readonly Route<PageServices>[] = [home, docs, inbox, pageFile];

/** Paths that are looked at with `Accept` in mind. */
export const PAGE_PATHS: ReadonlySet<string> = new Set(
  PAGE_ROUTES.filter(({ answerType }) => answerType === 'text/html').map(({ path }) => path),
);
