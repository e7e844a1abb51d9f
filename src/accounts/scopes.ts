/** What a key permits (siblings §3). */
export const SCOPES = ['jobs:read', 'companies:read', 'signals:read', 'retries:read', 'retries:write'] as const;

export type Scope = (typeof SCOPES)[number];

const KNOWN: ReadonlySet<string> = new Set(SCOPES);

/** Parses one scope; undefined for any other text. */
export const parseScope = (text: string): Scope | undefined => (KNOWN.has(text) ? (text as Scope) : undefined);

/** The scopes of a stored text, separated by blanks; scopes unknown to this release are left out. */
export const storedScopes = (text: string): Scope[] => text.split(' ').flatMap((word) => parseScope(word) ?? []);
