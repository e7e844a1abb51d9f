/**
 * Converts declared schemas to JSON Schema (draft 2020-12), for OpenAPI and discovery. The conversion throws for anything
 * that it does not know, so that a contract cannot lose a rule silently; the actions that it may ignore are listed here.
 */
import { toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import { type ParameterRule, ruleOf } from '../query.ts';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Actions that the conversion ignores: custom checks state their rule through metadata, and trimming and parsing do not
 * change what a client may send. */
const IGNORED_ACTIONS = ['check', 'trim', 'raw_transform', 'brand'];

/** @throws when a schema cannot be said in JSON Schema */
export function jsonSchemaOf(schema: v.GenericSchema): JsonSchema {
  const { $schema: _, ...rest } = toJsonSchema(schema as never, {
    target: 'draft-2020-12',
    typeMode: 'input',
    errorMode: 'throw',
    ignoreActions: IGNORED_ACTIONS,
    overrideAction({ valibotAction, jsonSchema }) {
      if (valibotAction.type !== 'metadata') return undefined;
      // The converter has copied our metadata into the schema; of it, only what JSON Schema knows belongs there.
      const {
        rule: _,
        code: __,
        jsonSchema: known,
        ...schema
      } = jsonSchema as typeof jsonSchema & Partial<ParameterRule>;
      return { ...schema, ...known } as typeof jsonSchema;
    },
  }) as Record<string, unknown>;
  // The converter ends at a transformation: what a parameter's rule says behind one is put back.
  const { entries = {} } = schema as { entries?: Readonly<Record<string, v.GenericSchema>> };
  const properties = rest.properties as Record<string, JsonSchema> | undefined;
  for (const [name, entry] of Object.entries(entries)) {
    if (properties?.[name] !== undefined) properties[name] = { ...properties[name], ...ruleOf(entry).jsonSchema };
  }
  return { ...rest, ...ruleOf(schema).jsonSchema };
}
