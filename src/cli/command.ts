/**
 * Commands as data. A command declares its arguments and options once; the parser, its error messages and `--help`
 * all read that declaration. A command returns its exit code: 0 done, 1 the data or the outside failed, 2 usage error.
 *
 * `node:util` splits the words into tokens. This file decides what is unknown, missing or surplus, so that Node and Bun
 * print the same messages.
 */
import { parseArgs } from 'node:util';
import { isHomePath, NO_HOME_PATH } from '../base/home-path.ts';
import { printable } from '../base/printable.ts';
import { withoutUser } from '../base/without-secrets.ts';
import { paragraph, table } from './help-text.ts';
import type { Io } from './io.ts';
import { nearestOf } from './nearest.ts';

export const EXIT_OK = 0;
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

/** The command line is wrong; the message is one line without the program's name. Exit code 2. */
export class UsageError extends Error {}

/** The data, or something outside the program, failed; the message is one line. Exit code 1. */
export class CommandError extends Error {}

type ErrorClass = new (...words: never[]) => Error;

/** What a command throws for a failure: a CommandError of its message for one of these classes, else the failure itself. */
export const commandErrorOf = (failure: unknown, ...expected: readonly ErrorClass[]): unknown =>
  failure instanceof Error && expected.some((kind) => failure instanceof kind)
    ? new CommandError(failure.message, { cause: failure })
    : failure;

interface OptionHelp {
  /** One line, no full stop. */
  readonly help: string;
}

export interface TextOption extends OptionHelp {
  readonly type: 'text';
  /** Placeholder for the value in the help: FILE, NAME. */
  readonly value: string;
  readonly default?: string;
  readonly required?: boolean;
  /** The accepted values; any text when absent. */
  readonly choices?: readonly string[];
}

export interface IntegerOption extends OptionHelp {
  readonly type: 'integer';
  readonly value: string;
  readonly min: number;
  readonly max: number;
  readonly default?: number;
  readonly required?: boolean;
}

export interface FlagOption extends OptionHelp {
  readonly type: 'flag';
}

export type Option = TextOption | IntegerOption | FlagOption;
export type Options = Readonly<Record<string, Option>>;

type Given<O extends { readonly default?: unknown; readonly required?: boolean }, Value> = O extends
  | { readonly required: true }
  | { readonly default: Value }
  ? Value
  : Value | undefined;

/** One of the choices, where the table has their list as constants. */
type TextOf<O extends TextOption> = O extends { readonly choices: readonly (infer Choice)[] } ? Choice : string;

export type OptionValues<Table extends Options> = {
  readonly [Name in keyof Table]: Table[Name] extends TextOption
    ? Given<Table[Name], TextOf<Table[Name]>>
    : Table[Name] extends IntegerOption
      ? Given<Table[Name], number>
      : boolean;
};

export interface Argument {
  /** Placeholder in the help: FILE. */
  readonly name: string;
  readonly help: string;
  /** `one` is required; `optional` and `many`, which accepts any number, zero too, come last. */
  readonly count: 'one' | 'optional' | 'many';
}

/** The values of arguments, where their list is constant. */
type ArgumentValues<List extends readonly Argument[]> = List extends readonly [
  infer First extends Argument,
  ...infer Others extends readonly Argument[],
]
  ? First['count'] extends 'one'
    ? readonly [string, ...ArgumentValues<Others>]
    : First['count'] extends 'optional'
      ? readonly [string?]
      : readonly string[]
  : readonly string[];

export interface Invocation<Table extends Options, List extends readonly Argument[]> {
  readonly options: OptionValues<Table>;
  /** Names of the options on the command line; the others have their default. */
  readonly given: ReadonlySet<string>;
  readonly arguments: ArgumentValues<List>;
}

/** A declared command. `start` receives checked options; it throws UsageError or CommandError to end with one line. */
export interface Command {
  /** Paragraphs shown by `--help` below the options. */
  readonly notes: readonly string[];
  readonly arguments: readonly Argument[];
  readonly options: Options;
  start(invocation: Invocation<Options, readonly Argument[]>, io: Io): Promise<number>;
}

/**
 * A command whose module loads on use. The stub has its summary, so that a group's help loads no command and `serve`
 * loads no other one.
 */
export interface CommandStub {
  /** One line, no full stop. */
  readonly summary: string;
  load(): Promise<Command>;
}

export interface CommandGroup {
  readonly summary: string;
  /** What `--version` prints; a group without it does not accept `--version`. */
  readonly version?: string;
  /** By name, in the order of the help. */
  readonly commands: Readonly<Record<string, CommandStub | CommandGroup>>;
  /** The command that runs when only the group is named: `companies --catalogue DIR`. */
  readonly itself?: CommandStub;
}

export interface Program extends CommandGroup {
  readonly name: string;
}

export interface CommandDeclaration<Table extends Options, List extends readonly Argument[]> {
  readonly notes?: readonly string[];
  readonly arguments?: List;
  readonly options: Table;
  run(invocation: Invocation<Table, List>, io: Io): Promise<number>;
}

/** Declares a command; `run` receives values of the types that the declaration states. */
export function command<const Table extends Options, const List extends readonly Argument[] = readonly []>(
  declared: CommandDeclaration<Table, List>,
): Command {
  return {
    notes: declared.notes ?? [],
    arguments: declared.arguments ?? [],
    options: declared.options,
    // parseInvocation built the values from this same declaration.
    start: (invocation, io) => declared.run(invocation as unknown as Invocation<Table, List>, io),
  };
}

const HELP: FlagOption = { type: 'flag', help: 'show this' };

function integerOf(name: string, option: IntegerOption, text: string): number {
  const value = /^(?:0|-?[1-9][0-9]*)$/.test(text) ? Number(text) : Number.NaN;
  if (value >= option.min && value <= option.max) return value;
  throw new UsageError(`--${name} must be a whole number from ${option.min} to ${option.max}, not ${quoted(text)}`);
}

function textOf(name: string, option: TextOption, text: string): string {
  if (option.choices && !option.choices.includes(text)) {
    throw new UsageError(`--${name} must be one of ${option.choices.join(', ')}, not ${quoted(text)}`);
  }
  if (text === '') throw new UsageError(`--${name} must not be empty`);
  // bash replaces it in `--out ~/jobs`, not in `--out=~/jobs`.
  if (/^(?:FILE|DIR)\b/.test(option.value) && isHomePath(text)) {
    throw new UsageError(`--${name} must be ${NO_HOME_PATH}`);
  }
  return text;
}

/** A word from the command line, safe to print: quoted, cut to 100 characters, control characters as escapes, no password. */
export function quoted(word: string): string {
  const text = withoutUser(word);
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}

interface ParsedWords {
  readonly values: Record<string, string | number | boolean>;
  readonly given: Set<string>;
  readonly positionals: readonly string[];
}

function unknownOption(rawName: string, options: Options): UsageError {
  const nearest = rawName === '-h' ? 'help' : nearestOf(rawName.replace(/^-+/, ''), Object.keys(options));
  return new UsageError(
    `unknown option ${printable(rawName)}${nearest === undefined ? '; --help lists the options' : `, did you mean --${nearest}?`}`,
  );
}

/** @param next the word behind the option, when it looks like an option too; it may be a secret and is not shown */
function valueMissing(name: string, value: string, next = '--'): UsageError {
  const spelling = `; one that begins with a hyphen is written --${name}=-…`;
  return new UsageError(`--${name} needs a value, ${value}${next.startsWith('--') ? '' : spelling}`);
}

/** The options and arguments on the command line; each option is checked separately. @throws UsageError */
function parseWords(options: Options, words: readonly string[]): ParsedWords {
  const { tokens } = parseArgs({
    args: [...words],
    options: Object.fromEntries(
      Object.entries(options).map(([name, { type }]) => [name, { type: type === 'flag' ? 'boolean' : 'string' }]),
    ),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });

  const values: Record<string, string | number | boolean> = {};
  const given = new Set<string>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind !== 'option') continue;
    const option = Object.hasOwn(options, token.name) ? options[token.name] : undefined;
    if (!option || !token.rawName.startsWith('--')) throw unknownOption(token.rawName, options);
    if (given.has(token.name)) throw new UsageError(`--${token.name} is given twice`);
    given.add(token.name);
    if (option.type === 'flag') {
      if (token.value !== undefined) throw new UsageError(`--${token.name} takes no value`);
      values[token.name] = true;
      continue;
    }
    const missing = token.value === undefined || (!token.inlineValue && /^--?[^-]/.test(token.value));
    if (missing) throw valueMissing(token.name, option.value, token.value);
    values[token.name] =
      option.type === 'integer' ? integerOf(token.name, option, token.value) : textOf(token.name, option, token.value);
  }
  return { values, given, positionals };
}

/** @returns null when the words ask for `--help` @throws UsageError */
function parseInvocation(subject: Command, words: readonly string[]): Invocation<Options, readonly Argument[]> | null {
  const { values, given, positionals } = parseWords({ ...subject.options, help: HELP }, words);
  if (given.delete('help')) return null;

  for (const [name, option] of Object.entries(subject.options)) {
    if (given.has(name)) continue;
    if (option.type === 'flag') values[name] = false;
    else if (option.default !== undefined) values[name] = option.default;
    else if (option.required) throw new UsageError(`--${name} is missing, for example --${name} ${option.value}`);
  }

  const required = subject.arguments.filter(({ count }) => count === 'one');
  const absent = required[positionals.length];
  if (absent) throw new UsageError(`the argument ${absent.name} is missing`);
  const acceptsMany = subject.arguments.some(({ count }) => count === 'many');
  const surplus = positionals[subject.arguments.length];
  if (surplus !== undefined && !acceptsMany) throw new UsageError(`unexpected argument ${quoted(surplus)}`);
  return { options: values as OptionValues<Options>, given, arguments: positionals };
}

/** Length up to which accepted values follow the option's name; a longer list is in its text. */
const CHOICES_LENGTH_MAX = 24;

function isShortList(choices: readonly string[]): boolean {
  return choices.join('|').length <= CHOICES_LENGTH_MAX;
}

function optionHelp(option: Option): string {
  if (option.type === 'flag') return option.help;
  const choices = option.type === 'text' && option.choices && !isShortList(option.choices) ? option.choices : [];
  const help = choices.length === 0 ? option.help : `${option.help}: ${choices.join(', ')}`;
  if (option.required) return `${help} (required)`;
  return option.default === undefined ? help : `${help} (default ${option.default})`;
}

function optionLabel(name: string, option: Option): string {
  if (option.type === 'flag') return `--${name}`;
  const choices = option.type === 'text' ? option.choices : undefined;
  return `--${name} ${choices && isShortList(choices) ? choices.join('|') : option.value}`;
}

const ARGUMENT_FORMS: Readonly<Record<Argument['count'], (name: string) => string>> = {
  one: (name) => name,
  optional: (name) => `[${name}]`,
  many: (name) => `[${name}...]`,
};

function commandHelp(path: string, summary: string, subject: Command): string {
  const words = [path];
  for (const [name, option] of Object.entries(subject.options)) {
    if (option.type !== 'flag' && option.required) words.push(`--${name} ${option.value}`);
  }
  words.push('[options]');
  for (const { name, count } of subject.arguments) words.push(ARGUMENT_FORMS[count](name));
  const options = Object.entries({ ...subject.options, help: HELP });
  return [
    paragraph(words.join(' '), 4),
    paragraph(`${summary}.`),
    ...(subject.arguments.length === 0 ? [] : [table(subject.arguments.map(({ name, help }) => [name, help]))]),
    table(options.map(([name, option]) => [optionLabel(name, option), optionHelp(option)])),
    ...subject.notes.map((note) => paragraph(note)),
  ].join('\n');
}

/** Every command below a group, with the words that lead to it. */
function* commandsIn(group: CommandGroup, before: string): Generator<readonly [string, CommandStub]> {
  for (const [name, item] of Object.entries(group.commands)) {
    const path = `${before}${name}`;
    if (!('commands' in item)) yield [path, item];
    else {
      if (item.itself) yield [path, item.itself];
      yield* commandsIn(item, `${path} `);
    }
  }
}

async function groupHelp(path: string, group: CommandGroup): Promise<string> {
  const version = group.version === undefined ? '' : ` ${path} --version prints the version.`;
  const more = paragraph(`${path} <command> --help describes one command.${version}`);
  if (group.itself) {
    const rows = Object.entries(group.commands).map(([name, { summary }]) => [`${path} ${name}`, summary] as const);
    return [commandHelp(path, group.itself.summary, await group.itself.load()), table(rows), more].join('\n');
  }
  const rows = [...commandsIn(group, '')].map(([name, { summary }]) => [name, summary] as const);
  return [paragraph(`${path} <command> [options]`), paragraph(`${group.summary}.`), table(rows), more].join('\n');
}

async function runCommand(path: string, stub: CommandStub, words: readonly string[], io: Io): Promise<number> {
  const subject = await stub.load();
  const invocation = parseInvocation(subject, words);
  if (invocation !== null) return subject.start(invocation, io);
  io.stdout.write(commandHelp(path, stub.summary, subject));
  return EXIT_OK;
}

const namesIn = (group: CommandGroup): string => Object.keys(group.commands).join(', ');

/** Suggests a command that the word resembles, also in a group below: `inspect` is `snapshot inspect`. */
function unknownCommand(word: string, group: CommandGroup): UsageError {
  const paths = [...commandsIn(group, '')].map(([path]) => path);
  const lastWord = (path: string): string => path.slice(path.lastIndexOf(' ') + 1);
  const words = [...Object.keys(group.commands), ...(group.version ? ['--version'] : []), '--help'];
  const own = word === '-h' ? '--help' : nearestOf(word, words);
  const below = nearestOf(word, paths.map(lastWord));
  const nearest = own ?? paths.find((path) => lastWord(path) === below);
  const hint = nearest === undefined ? `: ${namesIn(group)}` : `, did you mean ${nearest}?`;
  return new UsageError(`unknown command ${quoted(word)}${hint}`);
}

async function dispatch(
  path: string,
  subject: CommandStub | CommandGroup,
  words: readonly string[],
  io: Io,
): Promise<number> {
  if (!('commands' in subject)) return runCommand(path, subject, words, io);
  const [word, ...rest] = words;
  if (word === '--help' || word === 'help') {
    io.stdout.write(await groupHelp(path, subject));
    return EXIT_OK;
  }
  if (word === '--version' && subject.version !== undefined) {
    io.stdout.write(`${path} ${subject.version}\n`);
    return EXIT_OK;
  }
  if (subject.itself && (word === undefined || word.startsWith('-'))) return dispatch(path, subject.itself, words, io);
  if (word === undefined) throw new UsageError(`a command is missing: ${namesIn(subject)}; --help describes them`);
  const next = Object.hasOwn(subject.commands, word) ? subject.commands[word] : undefined;
  if (next === undefined) throw unknownCommand(word, subject);
  return dispatch(`${path} ${word}`, next, rest, io);
}

/** Runs the command that the words name. An expected failure becomes one line on stderr; a bug propagates. */
export async function runProgram(program: Program, words: readonly string[], io: Io): Promise<number> {
  try {
    return await dispatch(program.name, program, words, io);
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof CommandError)) throw error;
    io.stderr.write(`${program.name}: ${error.message}\n`);
    return error instanceof UsageError ? EXIT_USAGE : EXIT_FAILED;
  }
}
