/** Why this runtime cannot run paygrade, one line; undefined when it can. @param versions those of `process` */
export function versionFault({ node, bun }: { readonly node: string; readonly bun?: string }): string | undefined {
  const [major = 0, minor = 0] = node.split('.').map(Number);
  if (bun !== undefined || major > 22 || (major === 22 && minor >= 18)) return undefined;
  return `paygrade: Node 22.18 or newer is needed, this is ${node}`;
}
