/**
 * Settings tables combined into one configuration: read once from text, checked together and frozen. Flags, environment
 * and library options all pass through the same declarations, so they accept the same values.
 */
import {
  InvalidSettingError,
  mayHoldSecret,
  type OptionsOf,
  type ReadSetting,
  type Setting,
  type SettingsGroup,
  type SettingsRule,
  type SettingsTable,
  type ValuesOf,
} from './setting.ts';

/** A configuration that cannot be used; the message is one line that names the variable and the reason. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Environment names to text; absent = default. */
export type Variables = Readonly<Record<string, string | undefined>>;

type Intersection<Union> = (Union extends unknown ? (member: Union) => void : never) extends (member: infer All) => void
  ? All
  : never;
type Flat<T> = { readonly [Key in keyof T]: T[Key] };

type EachValues<Table> = Table extends SettingsTable ? ValuesOf<Table> : never;
type EachOptions<Table> = Table extends SettingsTable ? OptionsOf<Table> : never;

/** The values of all these tables in one object. */
export type CombinedValues<Table extends SettingsTable> = Flat<Intersection<EachValues<Table>>>;
/** The options of all these tables in one object. */
export type CombinedOptions<Table extends SettingsTable> = Flat<Intersection<EachOptions<Table>>>;

export type Reading<Values> =
  | { readonly ok: true; readonly values: Values }
  /** One line a fault, at least one. */
  | { readonly ok: false; readonly faults: readonly [string, ...string[]] };

type ParsedSetting =
  | { readonly ok: true; readonly value: unknown }
  /** Completes "VARIABLE must be ...". */
  | { readonly ok: false; readonly fault: string };

const SHOWN_LENGTH_MAX = 80;

function parseSetting({ variable, parse, isSecret }: Setting<unknown>, text: string): ParsedSetting {
  try {
    return { ok: true, value: parse(text) };
  } catch (failure) {
    if (!(failure instanceof InvalidSettingError)) throw failure;
    const isHidden = isSecret || mayHoldSecret(text);
    // Words about one entry of a list quote it, which may be the whole text.
    const isShown = failure.message.includes(JSON.stringify(text));
    const shown = isHidden || isShown ? '' : `, not ${JSON.stringify(text.slice(0, SHOWN_LENGTH_MAX))}`;
    return { ok: false, fault: `${variable} must be ${failure.message}${shown}` };
  }
}

/** One line for each setting that another setting requires and that has no value. All settings have been parsed. */
function missingSettings(settings: readonly Setting<unknown>[], readValue: ReadSetting): string[] {
  return settings.flatMap((setting) => {
    const { variable, requiredWhen } = setting;
    if (requiredWhen === null || readValue(setting) !== null) return [];
    if (readValue(requiredWhen.setting) !== requiredWhen.value) return [];
    return [`${variable} is required with ${requiredWhen.setting.variable}=${requiredWhen.value}`];
  });
}

/**
 * Reads several tables from the same variables.
 * @returns a frozen object of all values, or every fault: those of single settings or, if there are none, those between settings
 */
export function readSettings<const Tables extends readonly SettingsTable[]>(
  tables: Tables,
  variables: Variables,
  rules: readonly SettingsRule[] = [],
): Reading<CombinedValues<Tables[number]>> {
  const settings = tables.flatMap((table) => Object.values(table));
  const values = new Map<Setting<unknown>, unknown>();
  const faults: string[] = [];
  const take = (setting: Setting<unknown>, text: string): void => {
    const parsed = parseSetting(setting, text);
    if (parsed.ok) values.set(setting, parsed.value);
    else faults.push(parsed.fault);
  };
  // The cast is safe: for each setting the map holds what that setting's parser returned.
  const readValue: ReadSetting = <T>(setting: Setting<T>): T => {
    const defaultText = derived.get(setting);
    if (defaultText !== undefined) {
      derived.delete(setting);
      take(setting, defaultText(readValue));
    }
    if (!values.has(setting)) throw new Error(`${setting.variable} has no value yet`);
    return values.get(setting) as T;
  };

  /** Settings whose defaults depend on others and are not computed yet. */
  const derived = new Map<Setting<unknown>, (readValue: ReadSetting) => string>();
  for (const setting of settings) {
    const text = variables[setting.variable] ?? setting.default;
    if (text === null) values.set(setting, null);
    else if (typeof text === 'string') take(setting, text);
    else derived.set(setting, text);
  }
  if (faults.length === 0) for (const setting of [...derived.keys()]) readValue(setting);
  if (faults.length === 0) faults.push(...missingSettings(settings, readValue));
  const isGiven = ({ variable }: Setting<unknown>): boolean => variables[variable] !== undefined;
  if (faults.length === 0) faults.push(...rules.flatMap((rule) => rule(readValue, isGiven) ?? []));
  const [first, ...others] = faults;
  if (first !== undefined) return { ok: false, faults: [first, ...others] };
  const named = Object.fromEntries(settings.map((setting) => [setting.option, readValue(setting)]));
  return { ok: true, values: Object.freeze(named) as CombinedValues<Tables[number]> };
}

/** A list of groups as one configuration. */
export interface Configuration<Table extends SettingsTable> {
  /** As given; the order of `--help` and of the documents. */
  readonly groups: readonly SettingsGroup[];
  readonly settings: readonly Setting<unknown>[];
  /** @throws ConfigError the first fault */
  read(variables: Variables): CombinedValues<Table>;
  /** Every fault, one line each; empty = `read` succeeds. */
  faults(variables: Variables): readonly string[];
  /**
   * The same from options of `createPaygrade`.
   * @throws ConfigError the first fault, or an unknown option
   */
  fromOptions(options: CombinedOptions<Table>): CombinedValues<Table>;
}

/** @throws Error when two settings share a name, or a key in a table is not its variable in camel case */
function checkNames(groups: readonly SettingsGroup[]): void {
  const variables = new Set<string>();
  for (const [key, { variable, option }] of groups.flatMap(({ settings }) => Object.entries(settings))) {
    if (option !== key) throw new Error(`the setting ${variable} stands under "${key}", its option is "${option}"`);
    if (variables.has(variable)) throw new Error(`two settings declare ${variable}`);
    variables.add(variable);
  }
}

/** Library options as variables: every value becomes the text that its variable would have. */
function variablesOf(settings: readonly Setting<unknown>[], options: Readonly<Record<string, unknown>>): Variables {
  const variables: Record<string, string> = {};
  for (const [option, value] of Object.entries(options)) {
    if (value === undefined || value === null) continue;
    const found = settings.find((candidate) => candidate.option === option);
    if (found === undefined) throw new ConfigError(`unknown option ${JSON.stringify(option)}`);
    if (Array.isArray(value)) {
      variables[found.variable] = value.length === 0 ? 'none' : value.join(',');
      continue;
    }
    if (!['string', 'number', 'bigint', 'boolean'].includes(typeof value)) {
      throw new ConfigError(`${option} must be text as in ${found.variable}`);
    }
    variables[found.variable] = String(value);
  }
  return variables;
}

/**
 * Combines the settings of all owners. A setting that is added to one of the tables is read, shown and typed without
 * another edit.
 * @throws Error when names disagree or repeat, at start
 */
export function defineConfig<const Groups extends readonly SettingsGroup[]>(
  groups: Groups,
  rules: readonly SettingsRule[] = [],
): Configuration<Groups[number]['settings']> {
  checkNames(groups);
  const tables: readonly Groups[number]['settings'][] = groups.map((group) => group.settings);
  const settings = tables.flatMap((table) => Object.values(table));
  const read = (variables: Variables): CombinedValues<Groups[number]['settings']> => {
    const reading = readSettings(tables, variables, rules);
    if (!reading.ok) throw new ConfigError(reading.faults[0]);
    return reading.values;
  };
  return {
    groups,
    settings,
    read,
    faults(variables) {
      const reading = readSettings(tables, variables, rules);
      return reading.ok ? [] : reading.faults;
    },
    fromOptions: (options) => read(variablesOf(settings, options)),
  };
}
