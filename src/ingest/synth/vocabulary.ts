/**
 * The words of the synthetic catalogue, from data/synth.json. Names, domains and hosts are made up, and every domain lies
 * under the reserved `.example` (RFC 2606). Changing a list changes every catalogue that its seed makes.
 */
import { readPackageData } from '../package-data.ts';

export interface Discipline {
  readonly weight: number;
  /** Departments, the most usual first. */
  readonly departments: readonly string[];
  readonly roles: readonly string[];
  readonly specialities: readonly string[];
  /** Names of the skill dictionary, the most usual first. */
  readonly skills: readonly string[];
  /** Share of the work that can be done away from the employer's premises, 0 .. 1. */
  readonly remote: number;
  readonly duties: readonly string[];
}

export interface Vocabulary {
  readonly disciplines: readonly Discipline[];
  /** Words in front of a title; the empty one, a plain title, is the most usual. */
  readonly seniorities: readonly { readonly title: string; readonly weight: number }[];
  readonly internTitle: string;
  /** Company areas that follow a title after a comma. */
  readonly areas: readonly string[];
  /** Areas that follow a department after a dash. */
  readonly departmentAreas: readonly string[];
  readonly qualifiers: readonly string[];
  /** Cities with their region or state, the largest first; a city's rank and its country's weight give its share. */
  readonly countries: readonly {
    readonly country: string;
    readonly weight: number;
    readonly cities: readonly { readonly city: string; readonly region: string }[];
  }[];
  readonly remoteRegions: readonly string[];
  /** A company's name is a start, a middle and an end, and an addition, which may be empty. */
  readonly companyNames: {
    readonly starts: readonly string[];
    readonly middles: readonly string[];
    readonly ends: readonly string[];
    readonly additions: readonly string[];
  };
  readonly boardHosts: readonly string[];
  readonly texts: {
    readonly openings: readonly string[];
    readonly missions: readonly string[];
    readonly skillLeads: readonly string[];
    readonly skillExtras: readonly string[];
    readonly closings: readonly string[];
    readonly perks: readonly string[];
    readonly years: readonly string[];
    /** How texts write skills whose bare name is an everyday word, which the extractor reads only beside another skill. */
    readonly skillWording: Readonly<Record<string, string>>;
  };
}

let loaded: Vocabulary | undefined;

/** Reads the vocabulary once. */
export function loadVocabulary(): Vocabulary {
  loaded ??= readPackageData('synth.json') as Vocabulary;
  return loaded;
}
