/** A source file as the rules of the house see it: its syntax tree, what it imports, its functions and its comments. */
import { posix } from 'node:path';
import { type ESTree, parseSync } from 'vite';

export interface FunctionSpan {
  /** As it is called where it stands; `default` parts of an expression without a name are `(anonymous)`. */
  readonly name: string;
  /** First line, from 1. */
  readonly line: number;
  readonly lineCount: number;
}

export interface Source {
  /** Path below the root, with slashes. */
  readonly file: string;
  readonly text: string;
  readonly lineCount: number;
  /** Files of ours that it imports, types and lazy imports among them; paths below the root. */
  readonly imports: readonly string[];
  /** What else it imports: packages and built-in modules, by the text of the import. */
  readonly packages: readonly { readonly name: string; readonly names: readonly string[] }[];
  readonly functions: readonly FunctionSpan[];
  /** The code alone: comments are blanks. */
  readonly code: string;
  /** Text of each comment, its line breaks and stars taken out. */
  readonly comments: readonly string[];
  /** Whether it only passes on what others export. */
  readonly hasReexports: boolean;
  readonly hasDefaultExport: boolean;
}

type Node = ESTree.Node & Record<string, unknown>;

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';

/** Calls `visit` with every node and the nodes that it stands in, outermost first. */
function walk(node: Node, visit: (node: Node, parents: readonly Node[]) => void, parents: Node[] = []): void {
  visit(node, parents);
  parents.push(node);
  for (const value of Object.values(node)) {
    if (Array.isArray(value)) {
      for (const child of value) if (isNode(child)) walk(child, visit, parents);
    } else if (isNode(value)) walk(value, visit, parents);
  }
  parents.pop();
}

/** The line of a place in a text, both from the start: the line from 1, the place from 0. */
function linesOf(text: string): (offset: number) => number {
  const ends = [...text.matchAll(/\n/g)].map(({ index }) => index);
  return (offset) => {
    const line = ends.findIndex((end) => end >= offset);
    return (line === -1 ? ends.length : line) + 1;
  };
}

const FUNCTIONS: ReadonlySet<string> = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
]);

const nameOfKey = (key: unknown): string | undefined => {
  if (!isNode(key)) return undefined;
  if (key.type === 'PrivateIdentifier') return `#${String(key.name)}`;
  return typeof key.name === 'string' ? key.name : undefined;
};

/** The name by which a function is known: its own, or that of the variable, property or method that holds it. */
function nameOf(node: Node, parents: readonly Node[]): string {
  const own = nameOfKey(node.id);
  if (own !== undefined) return own;
  const parent = parents.at(-1);
  const held = nameOfKey(parent?.id) ?? nameOfKey(parent?.key);
  if (held === undefined) return '(anonymous)';
  const owner = parents.findLast(({ type }) => type === 'ClassDeclaration');
  return parent?.type === 'MethodDefinition' && owner !== undefined ? `${nameOfKey(owner.id)}.${held}` : held;
}

const plainComment = (value: string): string =>
  value
    .replace(/^\s*\*+/gm, ' ')
    .replace(/\s+/g, ' ')
    .trim();

/** @throws Error when the text is no TypeScript */
export function sourceOf(file: string, text: string): Source {
  const { program, module, comments, errors } = parseSync(file, text, { lang: 'ts', sourceType: 'module' });
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const lineAt = linesOf(text);
  const requests = new Map<string, string[]>();
  const request = (from: string, names: readonly string[] = []): void => {
    requests.set(from, [...(requests.get(from) ?? []), ...names]);
  };
  const functions: FunctionSpan[] = [];
  let hasDefaultExport = false;
  walk(program as unknown as Node, (node, parents) => {
    if (node.type === 'ImportExpression' || node.type === 'TSImportType') {
      const { value } = node.source as unknown as { value?: unknown };
      if (typeof value === 'string') request(value);
    }
    if (node.type === 'ExportDefaultDeclaration') hasDefaultExport = true;
    if (!FUNCTIONS.has(node.type) || !isNode(node.body)) return;
    const line = lineAt(node.start);
    functions.push({ name: nameOf(node, parents), line, lineCount: lineAt(node.end) - line + 1 });
  });
  for (const { moduleRequest, entries } of module.staticImports) {
    request(
      moduleRequest.value,
      entries.map(({ importName }) => importName.name ?? '*'),
    );
  }
  const reexports = module.staticExports.flatMap(({ entries }) => entries.filter(({ moduleRequest }) => moduleRequest));
  for (const { moduleRequest } of reexports) request(moduleRequest!.value);
  const codeParts: string[] = [];
  let codeEnd = 0;
  for (const { start, end } of comments) {
    codeParts.push(text.slice(codeEnd, start), text.slice(start, end).replace(/[^\n]/g, ' '));
    codeEnd = end;
  }
  const code = codeParts.join('') + text.slice(codeEnd);
  const isOurs = (from: string): boolean => from.startsWith('.') && from.endsWith('.ts');
  return {
    file,
    text,
    lineCount: text.replace(/\n$/, '').split('\n').length,
    imports: [...requests.keys()].filter(isOurs).map((from) => posix.join(posix.dirname(file), from)),
    packages: [...requests].filter(([from]) => !isOurs(from)).map(([name, names]) => ({ name, names })),
    functions,
    code,
    comments: comments.map(({ value }) => plainComment(value)),
    hasReexports: reexports.length > 0,
    hasDefaultExport,
  };
}
