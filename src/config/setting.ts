/**
 * One typed declaration per setting (decisions §2). It gives the environment variable (`PORT`), the flag (`--port`), the
 * option of `createPaygrade` (`port`), the help line, the row of `docs/configuration.md`, and the TypeScript types of the
 * value and of the option. A settings table is an object of settings keyed by option name.
 */
import type { Brand } from '../base/brand.ts';

/** The value that a text stands for. @throws InvalidSettingError */
export type Parse<T> = (text: string) => T;

/** A text that a parser refuses. The message completes "PORT must be ..."; the reader puts the variable in front. */
export class InvalidSettingError extends Error {
  override readonly name = 'InvalidSettingError';
}

/**
 * Whether an error must not quote a text: before an `@` may stand a password, after a `?` a key or a signature, and 64 hex
 * digits may be a private key.
 */
export const mayHoldSecret = (text: string): boolean => /[@?]|[0-9a-f]{64}/i.test(text);

/** Reads another setting's value, for defaults that depend on it. */
export type ReadSetting = <T>(setting: Setting<T>) => T;

/**
 * What must hold between settings, beyond `requiredWhen`.
 * @param isGiven whether the operator set the variable rather than leaving it at its default
 * @returns one line that names the variables and says what to do; undefined = it holds
 */
export type SettingsRule = (read: ReadSetting, isGiven: (setting: Setting<unknown>) => boolean) => string | undefined;

/** Holds while `setting` has the value that `text` stands for. Declared with `when`. */
export interface Condition {
  readonly setting: Setting<unknown>;
  readonly value: string;
}

export interface Setting<T> {
  /** Environment name, `RATE_LIMIT_PER_MINUTE`. */
  readonly variable: string;
  /** Without the dashes, `rate-limit-per-minute`. */
  readonly flag: string;
  /** Option of `createPaygrade` and key in its table, `rateLimitPerMinute`. */
  readonly option: string;
  readonly parse: Parse<T>;
  /** The default as text; null = the value is null unless the operator sets one. */
  readonly default: string | null | ((read: ReadSetting) => string);
  /** What `--help` and the documents show for the default. */
  readonly shownDefault: string;
  /** One line without a full stop, for `--help` and the documents. */
  readonly help: string;
  /** Full sentences that only the documents show; empty = none. */
  readonly detail: string;
  /** Error messages never quote the value. */
  readonly isSecret: boolean;
  /** While this holds, a null value is an error. */
  readonly requiredWhen: Condition | null;
}

interface Declaration<T, Default> {
  readonly variable: string;
  readonly parse: Parse<T>;
  readonly default: Default;
  readonly help: string;
  /** Needed where `default` is a function; otherwise the default itself, or "none". */
  readonly shownDefault?: string;
  readonly detail?: string;
  readonly isSecret?: boolean;
  readonly requiredWhen?: Condition;
}

/** `RATE_LIMIT_PER_MINUTE` -> `rateLimitPerMinute`. */
const camelCase = (variable: string): string =>
  variable.toLowerCase().replace(/_([a-z0-9])/g, (_, first: string) => first.toUpperCase());

/** Declares a setting. A null default makes the value nullable. */
export function setting<T>(declared: Declaration<T, null>): Setting<T | null>;
export function setting<T>(declared: Declaration<T, string | ((read: ReadSetting) => string)>): Setting<T>;
export function setting<T>(declared: Declaration<T, Setting<T>['default']>): Setting<T | null> {
  const { variable, parse, default: fallback, help, detail = '', isSecret = false, requiredWhen = null } = declared;
  const shownDefault = declared.shownDefault ?? (typeof fallback === 'string' ? fallback : 'none');
  return {
    variable,
    flag: variable.toLowerCase().replaceAll('_', '-'),
    option: camelCase(variable),
    parse,
    default: fallback,
    shownDefault,
    help,
    detail,
    isSecret,
    requiredWhen,
  };
}

/** The condition that `subject` has this value. */
export const when = <T extends string>(subject: Setting<T>, value: NoInfer<T>): Condition => ({
  setting: subject,
  value,
});

/** Settings keyed by option name. */
export type SettingsTable = Readonly<Record<string, Setting<unknown>>>;

/** A table and the part of the server that owns it, which heads its section of the documents. A module is one too. */
export interface SettingsGroup {
  readonly owner: string;
  readonly settings: SettingsTable;
}

/** The values of a table: option name to parsed value. */
export type ValuesOf<Table extends SettingsTable> = {
  readonly [Option in keyof Table]: Table[Option] extends Setting<infer T> ? T : never;
};

/**
 * The type of an option: the value itself, or its text as in the variable. A choice takes its literals; a branded text takes
 * any text, which the parser checks. Other types, such as prices or a key, take only the text.
 */
type OptionValue<T> = T extends boolean
  ? boolean | 'true' | 'false'
  : T extends number | bigint
    ? number | bigint | string
    : T extends Brand<string, string>
      ? string
      : T extends readonly unknown[]
        ? T | string
        : T extends object
          ? string
          : T;

/** The options of a table. Null and undefined stand for the default. */
export type OptionsOf<Table extends SettingsTable> = {
  readonly [Option in keyof Table]?: Table[Option] extends Setting<infer T>
    ? OptionValue<NonNullable<T>> | null | undefined
    : never;
};
