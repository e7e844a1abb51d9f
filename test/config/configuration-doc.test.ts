/** docs/configuration.md and `--help` show the settings as they are declared. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CONFIGURATION } from '../../src/app/configuration.ts';
import { SETTING_OPTIONS } from '../../src/cli/settings.ts';
import { CONFIGURATION_DOCUMENT, configurationDocument } from '../../tools/configuration-doc.ts';

describe('docs/configuration.md', () => {
  it('is what `npm run docs:configuration` writes', () => {
    expect(readFileSync(CONFIGURATION_DOCUMENT, 'utf8')).toBe(configurationDocument(CONFIGURATION.groups));
  });

  it('has a row for every setting', () => {
    const rows = configurationDocument(CONFIGURATION.groups)
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    expect(rows.map((row) => row.split('`')[1])).toEqual(CONFIGURATION.settings.map(({ variable }) => variable));
  });
});

describe('the flags of the settings', () => {
  it('are one for each setting, in the same order, with one line of help', () => {
    expect(Object.keys(SETTING_OPTIONS)).toEqual(CONFIGURATION.settings.map(({ flag }) => flag));
    for (const { help } of Object.values(SETTING_OPTIONS)) expect(help).toMatch(/^[^\n]*[^.\n] \(default [^\n]+\)$/);
  });
});
