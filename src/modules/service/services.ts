/** The services of the utility routes. */
import type { OverloadServices } from '../../access/overload.ts';
import type { ServerView } from '../module.ts';

/** The services of the operations about the process. */
export interface ProcessServices
  extends Pick<ServerView, 'readiness' | 'isLeaving' | 'metricsText'>,
    OverloadServices {}

export interface ServiceServices extends ProcessServices {
  /** Texts of the documents about this server, each made at its first use. */
  readonly documents: Documents;
}

/** The services of the operations that every surface has. */
export interface SurfaceServices extends Pick<ServerView, 'version' | 'uptimeMs'> {
  /** OpenAPI of the surface, JSON. */
  openApi(): string;
}

export interface Documents {
  /** All paid operations with their offers, JSON. */
  x402Listing(): string;
  /** RFC 9727, JSON. */
  apiCatalog(): string;
  /** Value of the `Link` header that points to the API catalogue. */
  apiCatalogLink(): string;
  /** Markdown. */
  llms(): string;
}
