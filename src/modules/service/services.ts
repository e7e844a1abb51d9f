/** What the utility routes are given. */
export interface ServiceServices {
  readonly version: string;
  uptimeMs(): number;
  /** Whether each component can do its part of paid work now. */
  readiness(): Readiness;
  /** Text of the documents about this server; each is made when it is first asked for. */
  readonly documents: Documents;
  /** What has been counted, as Prometheus text. */
  metrics(): string;
}

export interface Documents {
  /** OpenAPI of all routes, JSON. */
  openApi(): string;
  /** All paid routes with their offers, JSON. */
  x402Listing(): string;
  /** RFC 9727, JSON. */
  apiCatalog(): string;
  /** Value of the `Link` header that leads to the catalogue. */
  apiCatalogLink(): string;
  /** Markdown. */
  llms(): string;
}

export interface Readiness {
  /** The configured catalogue is loaded (true where none is configured). */
  readonly snapshot: boolean;
  /** The state store takes writes. */
  readonly state: boolean;
  /** Settlement can be reached. */
  readonly settlement: boolean;
}
