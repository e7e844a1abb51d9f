/**
 * Decodes query text into declared values, strictly (jobs-intelligence "Common rules" 2 and 3). A schema declares the type
 * that a parameter means (boolean, number, picklist, string); only this file knows how text becomes one. An unknown name, a
 * repeated one (also after decoding), a malformed percent-encoding and a value outside its rule are 400s that name the
 * parameter. Decoding stops at the first fault, so a query of thousands of parameters costs no more than a short one.
 */
import * as v from 'valibot';
import { decodePercent } from '../base/codec.ts';
import { withoutSecrets } from '../base/without-secrets.ts';
import {
  DUPLICATE_PARAMETER,
  type ErrorCode,
  INVALID_PARAMETER,
  MISSING_PARAMETER,
  Refusal,
  refuse,
  UNKNOWN_PARAMETER,
} from './errors.ts';

/** Metadata of a parameter's schema (`v.metadata`). */
export type ParameterRule = {
  /** Ends the sentence "`name` must be …". */
  readonly rule: string;
  readonly code?: ErrorCode;
  /** Members of JSON Schema for a rule that is a custom check. */
  readonly jsonSchema?: Readonly<Record<string, unknown>>;
};

export type QuerySchema = v.StrictObjectSchema<v.ObjectEntries, undefined>;
export type Parameters = Record<string, unknown>;

/** A declared query parameter. */
export interface Parameter {
  readonly name: string;
  readonly schema: v.GenericSchema;
  readonly fromText: (text: string) => unknown;
  readonly rule: string;
  readonly code: ErrorCode;
  readonly isRequired: boolean;
  readonly fallback: unknown;
}

/** No sign, no blank, no leading zero, no fraction (decisions §3). The schema has the range. */
const WHOLE_NUMBER = /^[1-9][0-9]*$/;

const asText = (text: string): unknown => text;
const asBoolean = (text: string): unknown => (text === 'true' ? true : text === 'false' ? false : text);
const asNumber = (text: string): unknown => (WHOLE_NUMBER.test(text) ? Number(text) : text);

/** The schema inside `optional(...)`, and whether there was one. */
function splitOptional(schema: v.GenericSchema): { inner: v.GenericSchema; optional: boolean; fallback: unknown } {
  if (schema.type === 'optional') {
    const { wrapped } = schema as v.OptionalSchema<v.GenericSchema, unknown>;
    return { inner: wrapped, optional: true, fallback: v.getDefault(schema) };
  }
  return { inner: schema, optional: false, fallback: undefined };
}

export function ruleOf(schema: v.GenericSchema): ParameterRule {
  const { inner } = splitOptional(schema);
  const rule = v.getMetadata(inner) as Partial<ParameterRule>;
  return { ...rule, rule: rule.rule ?? 'valid' };
}

function parameterOf(name: string, schema: v.GenericSchema): Parameter {
  const { inner, optional, fallback } = splitOptional(schema);
  const { rule, code } = ruleOf(schema);
  const fromText = inner.type === 'boolean' ? asBoolean : inner.type === 'number' ? asNumber : asText;
  return { name, schema: inner, fromText, rule, code: code ?? INVALID_PARAMETER, isRequired: !optional, fallback };
}

/** Form-decoded text (`+` is a blank), or `undefined` for a malformed escape or ill-formed UTF-8. */
const decoded = (text: string): string | undefined =>
  decodePercent(text.includes('+') ? text.replaceAll('+', ' ') : text);

const NAME_LENGTH_MAX = 64;

/** A name that a client sent, cut, so that no message echoes a long one or an API key. */
export function cutName(name: string): string {
  const safe = withoutSecrets(name);
  return safe.length > NAME_LENGTH_MAX ? `${safe.slice(0, NAME_LENGTH_MAX)}…` : safe;
}

const ABORT_EARLY = { abortEarly: true };

export type QueryDecoder = (search: string) => Parameters | Refusal;

/** The parameters that a schema declares, in its order. */
export const parametersOf = (schema: QuerySchema | undefined): readonly Parameter[] =>
  Object.entries(schema?.entries ?? {}).map(([name, entry]) => parameterOf(name, entry as v.GenericSchema));

/** Fills in defaults. @returns the refusal of a required parameter that is absent, or undefined */
function completed(values: Parameters, declared: readonly Parameter[]): Refusal | undefined {
  for (const { name, isRequired, rule, fallback } of declared) {
    if (name in values) continue;
    if (isRequired) return refuse(MISSING_PARAMETER, `\`${name}\` is required: ${rule}`);
    if (fallback !== undefined) values[name] = fallback;
  }
  return undefined;
}

/** Prepares the decoder of one route. */
export function queryDecoder(schema: QuerySchema | undefined): QueryDecoder {
  const declared = parametersOf(schema);
  const parameters = new Map(declared.map((parameter) => [parameter.name, parameter]));
  const names = declared.map(({ name }) => `\`${name}\``).join(', ');
  const others = names === '' ? 'this route accepts none' : `this route accepts ${names}`;

  /** The parameter that a sent name means. */
  const named = (sent: string): Parameter | Refusal => {
    const known = parameters.get(sent);
    if (known !== undefined) return known;
    const name = decoded(sent);
    if (name === undefined) return refuse(INVALID_PARAMETER, 'a parameter name is not valid percent-encoded UTF-8');
    return (
      parameters.get(name) ??
      refuse(UNKNOWN_PARAMETER, `unknown query parameter ${JSON.stringify(cutName(name))}: ${others}`)
    );
  };

  /** Adds the value of one pair of the query. */
  const add = (values: Parameters, pair: string): Refusal | undefined => {
    const equals = pair.indexOf('=');
    const parameter = named(equals < 0 ? pair : pair.slice(0, equals));
    if (parameter instanceof Refusal) return parameter;
    // The declared name rather than the sent text: a property key that is new to the runtime is expensive.
    const { name } = parameter;
    if (name in values) return refuse(DUPLICATE_PARAMETER, `\`${name}\` is given more than once`);
    const text = equals < 0 ? '' : decoded(pair.slice(equals + 1));
    if (text === undefined) return refuse(INVALID_PARAMETER, `\`${name}\` is not valid percent-encoded UTF-8`);
    if (text.includes('\0')) return refuse(parameter.code, `\`${name}\` must be text without U+0000`);
    const parsed = v.safeParse(parameter.schema, parameter.fromText(text), ABORT_EARLY);
    if (!parsed.success) return refuse(parameter.code, `\`${name}\` must be ${parameter.rule}`);
    values[name] = parsed.output;
    return undefined;
  };

  return (search) => {
    const values: Parameters = Object.create(null);
    let at = 1; // past the `?`
    while (at < search.length) {
      const next = search.indexOf('&', at);
      const end = next < 0 ? search.length : next;
      const refused = end === at ? undefined : add(values, search.slice(at, end));
      if (refused !== undefined) return refused;
      at = end + 1;
    }
    return completed(values, declared) ?? values;
  };
}
