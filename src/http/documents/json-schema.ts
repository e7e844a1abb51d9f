/**
 * JSON Schema (draft 2020-12) for OpenAPI and discovery, and the conversion of declared schemas. The conversion throws for
 * anything that it does not know, so that no rule of a contract is lost silently; the actions that it may ignore are listed here.
 */
import { toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import { type ParameterRule, ruleOf } from '../query.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** A closed object schema; every property is required. */
export const closed = (properties: JsonSchema): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

/**
 * Actions that the conversion ignores: custom checks state their rule through metadata, and trimming and parsing do not
 * change what a client may send.
 */
const IGNORED_ACTIONS = ['check', 'trim', 'raw_transform', 'brand'];

/** @throws Error when JSON Schema cannot express the schema */
export function jsonSchemaOf(schema: v.GenericSchema): JsonSchema {
  const { $schema: _, ...rest } = toJsonSchema(schema as never, {
    target: 'draft-2020-12',
    typeMode: 'input',
    errorMode: 'throw',
    ignoreActions: IGNORED_ACTIONS,
    overrideSchema({ valibotSchema, jsonSchema }) {
      // The converter leaves out `additionalProperties`, and client generators then permit none.
      return valibotSchema.type === 'loose_object' ? { ...jsonSchema, additionalProperties: true } : undefined;
    },
    overrideAction({ valibotAction, jsonSchema }) {
      if (valibotAction.type !== 'metadata') return undefined;
      // The converter copies our metadata into the schema, where only the members of JSON Schema belong.
      const {
        rule: _,
        code: __,
        jsonSchema: known,
        ...schema
      } = jsonSchema as typeof jsonSchema & Partial<ParameterRule>;
      return { ...schema, ...known } as typeof jsonSchema;
    },
  }) as Record<string, unknown>;
  // The converter stops at a transformation, so this adds the members of a parameter rule that follows one.
  const { entries = {} } = schema as { entries?: Readonly<Record<string, v.GenericSchema>> };
  const properties = rest.properties as Record<string, JsonSchema> | undefined;
  for (const [name, entry] of Object.entries(entries)) {
    if (properties?.[name] !== undefined) properties[name] = { ...properties[name], ...ruleOf(entry).jsonSchema };
  }
  return { ...rest, ...ruleOf(schema).jsonSchema };
}
