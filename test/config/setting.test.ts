/** A setting is one declaration: an entry in a made-up table gives variable, flag, help, option, value and types. */
import { describe, expect, expectTypeOf, it } from 'vitest';
import { defineConfig, readSettings } from '../../src/config/config.ts';
import { atomicAmount, notBlank, oneOf, payee, switchOn, wholeNumber } from '../../src/config/parsers.ts';
import { type OptionsOf, setting, type ValuesOf, when } from '../../src/config/setting.ts';
import type { Address } from '../../src/payment/protocol/network.ts';
import { configurationDocument } from '../../tools/configuration-doc.ts';

const strength = setting({
  variable: 'STRENGTH',
  parse: oneOf(['mild', 'strong']),
  default: 'mild',
  help: '`mild` or `strong`',
});

const TEA_SETTINGS = {
  strength,
  cupsPerDay: setting({
    variable: 'CUPS_PER_DAY',
    parse: wholeNumber(0, 9),
    default: (read) => (read(strength) === 'strong' ? '2' : '5'),
    shownDefault: '5; with STRENGTH=strong 2',
    help: 'cups a day; 0 pours none',
    detail: 'A cup holds 200 ml.',
  }),
  withMilk: setting({ variable: 'WITH_MILK', parse: switchOn, default: 'false', help: '`true`: add milk' }),
  priceAtomic: setting({ variable: 'PRICE_ATOMIC', parse: atomicAmount, default: '1', help: 'price of a cup' }),
  payTo2: setting({ variable: 'PAY_TO_2', parse: payee, default: null, help: 'address of the tea fund' }),
  teaToken: setting({
    variable: 'TEA_TOKEN',
    parse: notBlank,
    default: null,
    help: 'token for the kettle',
    isSecret: true,
    requiredWhen: when(strength, 'strong'),
  }),
};

const CATALOGUE_SETTINGS = {
  snapshot: setting({ variable: 'SNAPSHOT', parse: notBlank, default: 'sample', help: 'catalogue file' }),
};

const TEA = { owner: 'Tea', settings: TEA_SETTINGS };
const configuration = defineConfig([{ owner: 'Catalogue', settings: CATALOGUE_SETTINGS }, TEA]);

describe('a settings table of a module', () => {
  it('gives the variable, the flag and the option of each setting', () => {
    expect(Object.values(TEA_SETTINGS).map(({ variable, flag, option }) => [variable, flag, option])).toEqual([
      ['STRENGTH', 'strength', 'strength'],
      ['CUPS_PER_DAY', 'cups-per-day', 'cupsPerDay'],
      ['WITH_MILK', 'with-milk', 'withMilk'],
      ['PRICE_ATOMIC', 'price-atomic', 'priceAtomic'],
      ['PAY_TO_2', 'pay-to-2', 'payTo2'],
      ['TEA_TOKEN', 'tea-token', 'teaToken'],
    ]);
    expect(configuration.settings.map(({ option }) => option)).toEqual(['snapshot', ...Object.keys(TEA_SETTINGS)]);
  });

  it('gives the help and the default that is shown', () => {
    expect(Object.values(TEA_SETTINGS).map(({ help, shownDefault }) => `${help} (default ${shownDefault})`)).toEqual([
      '`mild` or `strong` (default mild)',
      'cups a day; 0 pours none (default 5; with STRENGTH=strong 2)',
      '`true`: add milk (default false)',
      'price of a cup (default 1)',
      'address of the tea fund (default none)',
      'token for the kettle (default none)',
    ]);
  });

  it('gives the values, beside those of the other tables, and freezes them', () => {
    const config = configuration.read({ CUPS_PER_DAY: '3', WITH_MILK: 'true', SNAPSHOT: 'none' });
    expect(config).toEqual({
      snapshot: 'none',
      strength: 'mild',
      cupsPerDay: 3,
      withMilk: true,
      priceAtomic: 1n,
      payTo2: null,
      teaToken: null,
    });
    expect(Object.isFrozen(config)).toBe(true);
    expect(configuration.fromOptions({ cupsPerDay: 3, withMilk: true, snapshot: 'none' })).toEqual(config);
  });

  it('gives the types of the values', () => {
    interface TeaValues {
      readonly strength: 'mild' | 'strong';
      readonly cupsPerDay: number;
      readonly withMilk: boolean;
      readonly priceAtomic: bigint;
      readonly payTo2: Address | null;
      readonly teaToken: string | null;
    }
    expectTypeOf<ValuesOf<typeof TEA_SETTINGS>>().toEqualTypeOf<TeaValues>();
    interface Expected extends TeaValues {
      readonly snapshot: string;
    }
    type Config = ReturnType<typeof configuration.read>;
    expectTypeOf<Config>().toEqualTypeOf<Expected>();
    // A module takes the whole configuration where it asks for its own values.
    expectTypeOf<Config>().toExtend<ValuesOf<typeof TEA_SETTINGS>>();
  });

  it('gives the types of the options: the value or its text, null and undefined', () => {
    interface TeaOptions {
      readonly strength?: 'mild' | 'strong' | null | undefined;
      readonly cupsPerDay?: number | bigint | string | null | undefined;
      readonly withMilk?: boolean | 'true' | 'false' | null | undefined;
      readonly priceAtomic?: number | bigint | string | null | undefined;
      readonly payTo2?: string | null | undefined;
      readonly teaToken?: string | null | undefined;
    }
    expectTypeOf<OptionsOf<typeof TEA_SETTINGS>>().toEqualTypeOf<TeaOptions>();
    // @ts-expect-error: not one of the words
    expect(() => configuration.fromOptions({ strength: 'weak' })).toThrow('STRENGTH must be one of mild, strong');
    // @ts-expect-error: no such option
    expect(() => configuration.fromOptions({ cupsADay: 1 })).toThrow('unknown option "cupsADay"');
    // @ts-expect-error: neither a switch nor its text
    expect(() => configuration.fromOptions({ withMilk: 'yes' })).toThrow('WITH_MILK must be one of true, false');
  });

  it('gives a row of the documents', () => {
    const rows = configurationDocument([TEA]).split('\n');
    expect(rows).toContain('## Tea');
    expect(rows).toContain(
      '| `CUPS_PER_DAY` | `--cups-per-day` | `cupsPerDay` | 5; with `STRENGTH=strong` 2 | Cups a day; 0 pours none. A cup holds 200 ml. |',
    );
    expect(rows).toContain(
      '| `TEA_TOKEN` | `--tea-token` | `teaToken` | none | Token for the kettle. Required with `STRENGTH=strong`. Secret. |',
    );
  });
});

describe('settings that depend on each other', () => {
  it('takes a default from the value of another setting, and a given value before it', () => {
    const variables = { STRENGTH: 'strong', TEA_TOKEN: 'x' };
    expect(configuration.read(variables).cupsPerDay).toBe(2);
    expect(configuration.read({ ...variables, CUPS_PER_DAY: '7' }).cupsPerDay).toBe(7);
  });

  it('reports one fault where the other setting cannot be used', () => {
    expect(configuration.faults({ STRENGTH: 'weak' })).toEqual(['STRENGTH must be one of mild, strong, not "weak"']);
  });

  it('requires a setting only while its condition holds', () => {
    expect(configuration.faults({ STRENGTH: 'strong' })).toEqual(['TEA_TOKEN is required with STRENGTH=strong']);
    expect(configuration.faults({ STRENGTH: 'mild' })).toEqual([]);
  });

  it('does not quote a secret', () => {
    expect(configuration.faults({ TEA_TOKEN: ' ' })).toEqual(['TEA_TOKEN must be a text that is not blank']);
  });

  it('refuses to take a default from a setting that is not in the tables', () => {
    const { cupsPerDay } = TEA_SETTINGS;
    expect(() => readSettings([{ cupsPerDay }], {})).toThrow('STRENGTH has no value yet');
  });
});

describe('defineConfig', () => {
  it('refuses a key that is not its variable in camel case', () => {
    const settings = { cups: TEA_SETTINGS.cupsPerDay };
    expect(() => defineConfig([{ owner: 'Tea', settings }])).toThrow(
      'the setting CUPS_PER_DAY stands under "cups", its option is "cupsPerDay"',
    );
  });

  it('refuses a variable that two owners declare', () => {
    expect(() => defineConfig([TEA, { owner: 'Coffee', settings: { strength } }])).toThrow(
      'two settings declare STRENGTH',
    );
  });
});
