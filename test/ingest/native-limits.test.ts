import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { grouped } from '../../src/base/grouped.ts';
import * as limits from '../../src/ingest/native.ts';

it('the document of the native format has its limits', () => {
  const document = readFileSync(new URL('../../docs/catalogue.md', import.meta.url), 'utf8').replaceAll('\n', ' ');
  expect(document).toContain(
    `${limits.ID_LENGTH_MAX} characters of \`id\`, ${grouped(limits.NAME_LENGTH_MAX)} of \`title\`, \`company\` and ` +
      `\`department\`, ${grouped(limits.LOCATION_LENGTH_MAX)} of \`location\`, ${grouped(limits.URL_LENGTH_MAX)} of ` +
      `\`source_url\`, and ${limits.SKILL_COUNT_MAX} skills of ${limits.SKILL_LENGTH_MAX} characters.`,
  );
});
