/** Paths of routes: fixed text, or with `:name` segments, whose names have lower-case letters and underscores. */

/** A parameter, and the text between it and the next one, or the end of the path. */
export interface PathParameter {
  readonly name: string;
  readonly after: string;
}

const PARAMETER = /:([a-z_]+)([^:]*)/g;

/** The parameters of a path, in their order. */
export const pathParametersOf = (path: string): readonly PathParameter[] =>
  [...path.matchAll(PARAMETER)].map(([, name = '', after = '']) => ({ name, after }));

/** The path as OpenAPI writes it: `{name}` where a route has `:name`. */
export const pathTemplateOf = (path: string): string => path.replace(PARAMETER, '{$1}$2');
