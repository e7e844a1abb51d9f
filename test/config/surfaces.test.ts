/** Which products a server has when `SURFACES` does not say: play money buys no outbound requests for strangers (siblings §1). */
import { describe, expect, it } from 'vitest';
import { CONFIGURATION } from '../../src/app/configuration.ts';
import { surfaceNotices } from '../../src/config/surfaces.ts';

const REAL = {
  SETTLEMENT: 'facilitator',
  FACILITATOR_URL: 'https://facilitator.example',
  PAY_TO: '0x209693Bc6afc0C5328bA36FaF03C514EF312287C',
};

describe('the Resolve API', () => {
  it.each<[isOn: boolean, variables: Readonly<Record<string, string>>]>([
    [true, {}],
    [true, { HOST: '::1' }],
    [true, { HOST: 'localhost', BASE_URL: 'http://127.0.0.2:8402/api' }],
    [true, { BASE_URL: 'http://[::1]:8402' }],
    [true, { BASE_URL: 'http://shop.localhost:8402' }],
    [false, { HOST: '0.0.0.0' }],
    [false, { HOST: '::' }],
    [false, { HOST: '10.0.0.1' }],
    [false, { BASE_URL: 'https://shop.example' }],
    [false, { BASE_URL: 'https://127.0.0.1.shop.example' }],
    [true, { HOST: '0.0.0.0', ...REAL }],
    [true, { HOST: '0.0.0.0', SURFACES: 'jobs,resolve' }],
    [false, { SURFACES: 'jobs,callbacks' }],
  ])('is on: %j, with %j', (isOn, variables) => {
    const config = { ...CONFIGURATION.read(variables), hookBaseUrl: 'https://hooks.example' };
    expect(config.surfaces.includes('resolve')).toBe(isOn);
    const isSaid = !isOn && variables.SURFACES === undefined;
    expect(surfaceNotices(config)).toEqual(isSaid ? [expect.stringContaining('resolve off')] : []);
  });
});

describe('callbacks of a public server', () => {
  const PUBLIC = 'https://shop.example';
  const LOCAL = 'http://127.0.0.1:8402';
  it.each<[isSaid: boolean, baseUrl: string | null, hookBaseUrl: string, surfaces: string]>([
    [true, PUBLIC, LOCAL, 'jobs,callbacks'],
    [true, PUBLIC, 'http://localhost:8402', 'callbacks'],
    [false, PUBLIC, LOCAL, 'jobs'],
    [false, PUBLIC, 'https://hooks.shop.example', 'callbacks'],
    [true, PUBLIC, 'http://0.0.0.0:8402', 'callbacks'],
    [true, PUBLIC, 'http://[::]:8402', 'callbacks'],
    [false, PUBLIC, 'http://10.0.0.1:8402', 'callbacks'],
    [false, 'http://0.0.0.0:8402', 'http://0.0.0.0:8402', 'callbacks'],
    [false, LOCAL, LOCAL, 'callbacks'],
    [false, null, LOCAL, 'callbacks'],
  ])('are said to have an unreachable address: %j, with %s, %s and %s', (isSaid, baseUrl, hookBaseUrl, surfaces) => {
    const config = { ...CONFIGURATION.read({ ...REAL, SURFACES: surfaces }), baseUrl, hookBaseUrl };
    expect(surfaceNotices(config)).toEqual(isSaid ? [expect.stringContaining(`${hookBaseUrl}/hooks`)] : []);
  });
});
