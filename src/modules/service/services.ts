/** The services of the utility routes. */
import type { ServerView } from '../module.ts';

export interface ServiceServices extends Pick<ServerView, 'readiness' | 'metricsText'> {
  /** Text of the documents about this server; each is made when it is first asked for. */
  readonly documents: Documents;
}

/** What a surface says of itself. */
export interface SurfaceServices extends Pick<ServerView, 'version' | 'uptimeMs'> {
  /** OpenAPI of the surface, JSON. */
  openApi(): string;
}

export interface Documents {
  /** All paid operations with their offers, JSON. */
  x402Listing(): string;
  /** RFC 9727, JSON. */
  apiCatalog(): string;
  /** Value of the `Link` header that leads to the catalogue. */
  apiCatalogLink(): string;
  /** Markdown. */
  llms(): string;
}
