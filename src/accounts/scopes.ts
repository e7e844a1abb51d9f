/** What a key permits (siblings §3). */
export const SCOPES = ['jobs:read', 'companies:read', 'signals:read', 'retries:read', 'retries:write'] as const;

export type Scope = (typeof SCOPES)[number];

const KNOWN: ReadonlySet<string> = new Set(SCOPES);

/** Parses one scope; undefined for any other text. */
export const parseScope = (text: string): Scope | undefined => (KNOWN.has(text) ? (text as Scope) : undefined);
