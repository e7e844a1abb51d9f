/** What orchestrators ask: `/ready` is for those who route requests; a health check that asks it restarts a good server. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const DEPLOY = join(import.meta.dirname, '..', '..', 'deploy');

/** Instructions and keys that end or restart what fails them; each with the lines that belong to it. */
const RESTARTING =
  /^[ \t]*(?:HEALTHCHECK\b|healthcheck:|livenessProbe:|WatchdogSec=|ExecStartPost=)(?:.*\\\n)*.*(?:\n[ \t]+.*)*/gm;

const checks = readdirSync(DEPLOY).flatMap((file) =>
  [...readFileSync(join(DEPLOY, file), 'utf8').matchAll(RESTARTING)].map(([text]) => [file, text] as const),
);

it('checks the health of the container at all', () => {
  expect(checks.map(([file]) => file)).toContain('Dockerfile');
});

it.each(checks)('does not restart a server for the outage of its facilitator: %s asks /health', (_, text) => {
  expect(text).toContain('/health');
  expect(text).not.toContain('/ready');
});
