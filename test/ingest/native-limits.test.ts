import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { grouped } from '../../src/base/grouped.ts';
import * as limits from '../../src/ingest/native.ts';

it('the document of the native format has its limits', () => {
  const document = readFileSync(new URL('../../docs/catalogue.md', import.meta.url), 'utf8').replaceAll('\n', ' ');
  expect(document).toContain(
    `\`id\` ${limits.ID_LENGTH_MAX}, \`title\`, \`company\` and \`department\` ${grouped(limits.NAME_LENGTH_MAX)}, ` +
      `\`location\` ${grouped(limits.LOCATION_LENGTH_MAX)}, \`source_url\` ${grouped(limits.URL_LENGTH_MAX)}, and ` +
      `${limits.SKILL_COUNT_MAX} skills of ${limits.SKILL_LENGTH_MAX}.`,
  );
});
