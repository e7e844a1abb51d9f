/** Checks of what lies on the disk: the catalogue and the state. Nothing is locked, made or written. */
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { openSnapshotFile } from '../../adapters/files/snapshot-file.ts';
import { NO_CATALOGUE, SAMPLE } from '../../app/catalogue-holder.ts';
import type { Config } from '../../app/configuration.ts';
import { openSnapshot, SnapshotError } from '../../catalogue/snapshot/snapshot.ts';
import { IN_MEMORY } from '../../config/settings.ts';
import { inspectState } from '../../storage/sqlite/inspect.ts';
import { LOCK_FILE } from '../../storage/sqlite/lock.ts';
import { MARKER_FILE } from '../../storage/sqlite/marker.ts';
import { STATE_FILE } from '../../storage/sqlite/state.ts';
import { type Finding, Findings, sizeText } from './finding.ts';

const DAY_MS = 86_400_000;
/** The one period of the questions: without observations in it they have little to say. */
const PERIOD_DAYS = 7;
/** A full disk stops all sales. */
const FREE_BYTES_MIN = 64 * 1024 * 1024;

const messageOf = (failure: unknown): string => (failure instanceof Error ? failure.message : String(failure));

const daysText = (ms: number): string => `${(ms / DAY_MS).toFixed(1)} days`;

export function checkSnapshot({ snapshot, settlement }: Config, nowMs: number): readonly Finding[] {
  const findings = new Findings('snapshot');
  if (snapshot === NO_CATALOGUE) {
    findings.note('SNAPSHOT=none: jobs routes answer 503, callbacks are served');
    return findings.all;
  }
  if (snapshot === SAMPLE) {
    if (settlement === 'facilitator') {
      findings.mend(
        'the built-in sample is sold for real money, and every job in it is made up',
        'set SNAPSHOT to a file of `snapshot build`',
      );
    } else findings.note('the built-in sample; every job in it is made up');
    return findings.all;
  }
  try {
    const opened = openSnapshot(openSnapshotFile(snapshot));
    const { rowCount, activeCount, newestObservedMs, facts, byteLength } = opened;
    opened.close();
    findings.ok(
      `${rowCount} jobs, ${activeCount} active, ${sizeText(byteLength)}, every byte checked, built ${daysText(nowMs - facts.builtAtMs)} ago`,
    );
    if (activeCount === 0) findings.note('no job is active: every answer is empty', 'build it from newer postings');
    if (newestObservedMs === null) return findings.all;
    const ageMs = nowMs - newestObservedMs;
    if (ageMs > PERIOD_DAYS * DAY_MS) {
      findings.note(
        `the newest observation is ${daysText(ageMs)} old, outside the period of ${PERIOD_DAYS} days`,
        'build it from newer postings, then send SIGHUP',
      );
    }
    if (ageMs < -DAY_MS)
      findings.note(
        `the newest observation lies ${daysText(-ageMs)} ahead of this clock`,
        'look at the clock of this machine and of the source',
      );
  } catch (failure) {
    if (!(failure instanceof SnapshotError)) throw failure;
    findings.mend(failure.message, 'set SNAPSHOT to a file that `snapshot inspect` can read');
  }
  return findings.all;
}

/** The folder itself, or the nearest one above it that is there. */
function nearestFolder(path: string): string {
  let folder = resolve(path);
  while (!existsSync(folder) && folder !== dirname(folder)) folder = dirname(folder);
  return folder;
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function checkSpace(findings: Findings, folder: string, callbackBytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  const freeBytes = bavail * bsize;
  if (freeBytes < FREE_BYTES_MIN) {
    findings.mend(`${sizeText(freeBytes)} are free at ${folder}`, 'make room: a full disk refuses all paid work');
  } else if (freeBytes < callbackBytes) {
    const found = `callbacks may claim ${sizeText(callbackBytes)}, and ${sizeText(freeBytes)} are free at ${folder}`;
    findings.note(found, `set CALLBACK_BYTES to ${Math.floor(freeBytes / 2)} or make room`);
  } else findings.ok(`${sizeText(freeBytes)} are free`);
}

/** What a missing or damaged state asks of the operator. */
const GIVE_UP =
  'put back a sound copy, or give it up with STATE_RESET=true (what was used before is then refused for 150 s)';

function checkContents(findings: Findings, stateDir: string): void {
  const state = inspectState(stateDir);
  switch (state.kind) {
    case 'new':
      findings.ok(`${stateDir} is empty: the first start fills it`);
      return;
    case 'in-use':
      findings.ok(`in use by process ${state.processId}, which says itself whether it is sound`);
      return;
    case 'sound':
      findings.ok(`sound, ${sizeText(state.bytes)}`);
      return;
    case 'unclean':
      findings.note(
        `it was not closed; its log of ${sizeText(state.logBytes)} is whole and is read back at the next start`,
      );
      return;
    case 'unusable':
      findings.mend(state.reason, GIVE_UP);
      return;
    default:
      state satisfies never;
  }
}

export function checkState({ stateDir, settlement, stateReset, callbackBytes }: Config): readonly Finding[] {
  const findings = new Findings('state');
  if (stateDir === IN_MEMORY) {
    const found = 'STATE_DIR=:memory: used payments and callbacks are forgotten when the process ends';
    if (settlement === 'facilitator')
      findings.mend(found, 'set STATE_DIR to a folder: a restart would sell the same payment twice');
    else findings.note(found);
    return findings.all;
  }
  if (stateReset)
    findings.note(
      'STATE_RESET=true: a missing or damaged state is given up at the next start',
      'unset it once it has served',
    );
  try {
    const folder = nearestFolder(stateDir);
    if (!statSync(folder).isDirectory()) {
      findings.mend(`${folder} is not a folder`, 'set STATE_DIR to a folder');
      return findings.all;
    }
    const paths = [folder, ...[LOCK_FILE, STATE_FILE, MARKER_FILE].map((name) => join(stateDir, name))].filter(
      existsSync,
    );
    const locked = paths.find((path) => !isWritable(path));
    if (locked !== undefined)
      findings.mend(`${locked} cannot be written by this user`, 'give it to the user that the server runs as');
    checkSpace(findings, folder, callbackBytes);
    if (folder === resolve(stateDir)) checkContents(findings, stateDir);
    else findings.ok(`${stateDir} is not there yet: the first start makes it`);
  } catch (failure) {
    findings.mend(`${stateDir} cannot be read: ${messageOf(failure)}`, 'run this as the user that the server runs as');
  }
  return findings.all;
}
