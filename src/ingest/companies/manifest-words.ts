/** Manifests as words of the operator, and remembered words as a manifest for the shapes. */
import type { CompanyDomain } from '../../catalogue/company-domain.ts';
import type { BoardEntry, BoardManifest } from '../shapes/board-manifest.ts';
import type { OperatorWord } from './operator-words.ts';

/** The words of a manifest, whose domains are parsed. */
export function wordsOf(manifest: BoardManifest): OperatorWord[] {
  return [...manifest].map(([key, { company, domain, url, aliases }]) => ({
    kind: 'board',
    key,
    name: company,
    domain: domain as CompanyDomain | null,
    url: url ?? null,
    aliases: (aliases ?? []) as readonly CompanyDomain[],
  }));
}

/**
 * The manifest without its domains: words give domains to jobs when a snapshot is built, and rows keep their source's data.
 */
export function withoutDomains(manifest: BoardManifest): BoardManifest {
  return new Map([...manifest].map(([key, board]) => [key, { ...board, domain: null }] as const));
}

/**
 * Remembered words as the shapes need them: names and addresses of boards. A word about `shape:token` holds for its token too.
 */
export function manifestOf(words: readonly OperatorWord[]): BoardManifest {
  const boards = new Map<string, BoardEntry>();
  for (const { kind, key, name, url } of words) {
    if (kind === 'board') boards.set(key, { company: name, domain: null, url });
  }
  for (const [key, { url }] of [...boards]) {
    const token = key.slice(key.indexOf(':') + 1);
    if (url !== null && !boards.has(token)) boards.set(token, { company: null, domain: null, url: url ?? null });
  }
  return boards;
}
