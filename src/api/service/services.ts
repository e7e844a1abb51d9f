/** What the utility routes are given. */
export interface ServiceServices {
  readonly version: string;
  uptimeMs(): number;
  /** Whether each component can do its part of paid work now. */
  readiness(): Readiness;
  /** The OpenAPI document of all routes, as JSON text. */
  openApi(): string;
}

export interface Readiness {
  /** The configured catalogue is loaded (true where none is configured). */
  readonly snapshot: boolean;
  /** The state store takes writes. */
  readonly state: boolean;
  /** Settlement can be reached. */
  readonly settlement: boolean;
}
