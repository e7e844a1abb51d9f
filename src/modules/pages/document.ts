/**
 * The frame, the headers and the declaration of every page. Pages load nothing from another origin, contain no inline script or
 * style, and send no referrer. Links are relative, so that pages work below any path that a proxy adds.
 */
import * as v from 'valibot';
import { Reply } from '../../http/answers.ts';
import { type Route, route } from '../../http/route.ts';
import { acceptsHtml } from './accepts-html.ts';
import { type Html, html } from './html.ts';
import type { PageServices } from './services.ts';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];

/** Forbids scripts to turn text into markup. The reference page omits this, because its library does just that. */
const TRUSTED_TYPES = ["require-trusted-types-for 'script'", "trusted-types 'none'"];

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  vary: 'Accept',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

interface Page {
  readonly title: string;
  readonly description: string;
  /** Names of page files. */
  readonly styles?: readonly string[];
  readonly scripts?: readonly string[];
  /** A classic script that runs before the others. */
  readonly library?: string;
  main(services: PageServices): Html;
}

type PagePath = '/' | '/docs' | '/inbox' | '/sales' | '/boards';

/** Pages of the operator are not in the navigation. */
const navigationOf = ({ has }: PageServices): readonly (readonly [PagePath, string])[] => [
  ['/', 'Overview'],
  ['/docs', 'API reference'],
  ...(has('callbacks') ? ([['/inbox', 'Inbox']] as const) : []),
];

/** Address of a page file, relative to any page. */
const fileUrl = (name: string, { files }: PageServices): string => `pages/${files.digest}/${name}`;

function pageReply(path: PagePath, page: Page, services: PageServices): Reply {
  const { title, description, styles = [], scripts = [], library } = page;
  const file = (name: string): string => fileUrl(name, services);
  const { text } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${description}">
<title>${title}</title>
<link rel="icon" href="${file('icon.svg')}" type="image/svg+xml">
${['style.css', ...styles].map((name) => html`<link rel="stylesheet" href="${file(name)}">\n`)}</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="site-header">
<a class="wordmark" href="./"><img src="${file('icon.svg')}" alt="" width="22" height="22">paygrade</a>
<nav aria-label="Pages">
${navigationOf(services).map(
  ([target, name]) =>
    html`<a href=".${target}"${target === path ? html` aria-current="page"` : undefined}>${name}</a>\n`,
)}</nav>
</header>
<main id="main" tabindex="-1">
${page.main(services)}
</main>
<footer class="site-footer">
<p>paygrade ${services.facts.version}</p>
<p><a href="./openapi.json">openapi.json</a> <a href="./health">health</a> <a href="./ready">ready</a></p>
</footer>
${library === undefined ? undefined : html`<script src="${file(library)}"><\/script>\n`}${scripts.map(
  (name) => html`<script type="module" src="${file(name)}"><\/script>\n`,
)}</body>
</html>
`;
  const policy = library === undefined ? [...POLICY, ...TRUSTED_TYPES] : POLICY;
  return new Reply(text, { ...HEADERS, 'content-security-policy': policy.join('; ') });
}

/** Declares a page: free, and revalidated at every visit, because it names its files by their digest. */
export const pageRoute = (operation: string, path: PagePath, summary: string, page: Page): Route<PageServices> =>
  route<PageServices>()({
    operation,
    method: 'GET',
    path,
    summary,
    access: [],
    answer: v.string(),
    answerType: 'text/html',
    cacheControl: 'no-cache',
    variant: { header: 'accept', matches: acceptsHtml },
    errors: [],
    handle: (_, services) => pageReply(path, page, services),
  });
