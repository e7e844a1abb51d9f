/** Of `process`. Bun and Deno name the Node whose modules they imitate as well. */
type Versions = { readonly node: string; readonly bun?: string; readonly deno?: string };

/** Why this runtime cannot run paygrade, one line; undefined when it can. */
export function versionFault({ node, bun, deno }: Versions): string | undefined {
  const [major = 0, minor = 0] = node.split('.').map(Number);
  if (bun !== undefined || deno !== undefined || major > 22 || (major === 22 && minor >= 18)) return undefined;
  return `paygrade: Node 22.18 or newer is needed, this is ${node}`;
}
