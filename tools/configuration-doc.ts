/** `npm run docs:configuration`: writes `docs/configuration.md` from the declarations of the settings. */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CONFIGURATION } from '../src/app/configuration.ts';
import type { Setting, SettingsGroup } from '../src/config/setting.ts';

/** Path of the document. */
export const CONFIGURATION_DOCUMENT = fileURLToPath(new URL('../docs/configuration.md', import.meta.url));

const INTRODUCTION = `# Configuration

<!-- Written by \`npm run docs:configuration\` from the declarations of the settings. Edit those, not this file. -->

Every setting is an environment variable, a flag and an option of the library:

\`\`\`sh
PORT=9000 npm start
npm start -- --port 9000
\`\`\`

\`\`\`ts
await createPaygrade({ port: 9000 });
\`\`\`

- A flag wins over the environment variable of the same setting.
- Bun takes a \`.env\` file of the working folder for variables that the environment does not set; Node takes one only
  with \`node --env-file=.env\`.
- Secrets belong in variables: other users of the machine see the flags of a process.
- An option takes the value itself (\`port: 9000\`) or the text that the variable would have (\`port: '9000'\`); \`prices\` and
  \`stateKey\` take the text. \`undefined\` and \`null\` stand for the default.
- A value that the server cannot use stops the start with one line that names the variable, and exit code 2. An unknown flag
  or option does the same. The server does not quote secrets in that line.
- \`paygrade doctor\` takes the same settings and lists everything that is wrong with them without starting the server.
  It also names variables that look like a misspelt setting; the server does not know them and ignores them.
`;

const code = (text: string): string => `\`${text}\``;
const cell = (text: string): string => text.replaceAll('|', '\\|');
/** Formats names, addresses and numbers in a default's description as code. */
const wordsOf = (shownDefault: string): string =>
  shownDefault.replace(/https?:\S+|[A-Z][A-Z_]+(?:=[\w:]+|\/[a-z]+)?|[0-9]{2,}/g, code);
const sentence = (text: string): string => `${text.replace(/^[a-z]/, (first) => first.toUpperCase())}.`;

function meaningOf({ help, detail, requiredWhen, isSecret }: Setting<unknown>): string {
  const required = requiredWhen && `Required with ${code(`${requiredWhen.setting.variable}=${requiredWhen.value}`)}.`;
  return [sentence(help), required, isSecret ? 'Secret.' : '', detail].filter(Boolean).join(' ');
}

function rowOf(setting: Setting<unknown>): string {
  const { variable, flag, option, shownDefault } = setting;
  const isLiteral = setting.default === shownDefault;
  const cells = [
    code(variable),
    code(`--${flag}`),
    code(option),
    isLiteral ? code(shownDefault) : wordsOf(shownDefault),
    meaningOf(setting),
  ];
  return `| ${cells.map(cell).join(' | ')} |`;
}

const sectionOf = ({ owner, settings }: SettingsGroup): string =>
  [
    `## ${owner}\n`,
    '| variable | flag | option | default | meaning |',
    '|---|---|---|---|---|',
    ...Object.values(settings).map(rowOf),
    '',
  ].join('\n');

/** The document as Markdown, a section for each owner, in the order of `--help`. */
export const configurationDocument = (groups: readonly SettingsGroup[]): string =>
  [INTRODUCTION, ...groups.map(sectionOf)].join('\n');

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(CONFIGURATION_DOCUMENT, configurationDocument(CONFIGURATION.groups));
}
