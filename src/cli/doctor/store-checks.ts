/** Checks of the files: the catalogue and the state. They take no lock and write nothing. */
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { SAMPLE } from '../../adapters/files/catalogue-source.ts';
import { openSnapshotFile } from '../../adapters/files/snapshot-file.ts';
import type { Config } from '../../app/configuration.ts';
import { DAY_MS } from '../../base/durations.ts';
import { messageOf } from '../../base/failure.ts';
import { grouped, quantity } from '../../base/grouped.ts';
import { MIB } from '../../base/sizes.ts';
import { DOMAIN_SHARE_MIN, type Reach, reachAdvice, reachOf } from '../../catalogue/questions/reach.ts';
import { openSnapshot } from '../../catalogue/snapshot/snapshot.ts';
import { SnapshotError } from '../../catalogue/snapshot/snapshot-error.ts';
import { IN_MEMORY, NO_CATALOGUE } from '../../config/settings.ts';
import { WINDOW_SECONDS_MAX } from '../../payment/protocol/network.ts';
import { closedFolder, nearestFolder } from '../../storage/folder-fault.ts';
import { foundPayee, PAYEE_FILE } from '../../storage/payee-file.ts';
import { inspectState } from '../../storage/sqlite/inspect.ts';
import { LOCK_FILE } from '../../storage/sqlite/lock.ts';
import { MARKER_FILE, MOVED_REMEDY } from '../../storage/sqlite/marker.ts';
import { STATE_FILE } from '../../storage/sqlite/state.ts';
import { foundStateKey, STATE_KEY_FILE } from '../../storage/state-key.ts';
import { reachText } from '../snapshot/reach-lines.ts';
import { type Findings, sizeText } from './finding.ts';

/** The observation period of the jobs routes: without newer observations their answers are nearly empty. */
const PERIOD_DAYS = 7;
/** A full disk stops all paid work. */
const FREE_BYTES_MIN = 64 * MIB;

const daysText = (ms: number): string => `${(ms / DAY_MS).toFixed(1)} days`;

/** Warns if most of the catalogue cannot be asked for by company, and says what to do. */
function checkReach(findings: Findings, reach: Reach): void {
  if (reach.activeJobs === 0) return;
  if (reach.domainShare >= DOMAIN_SHARE_MIN) findings.ok(reachText(reach));
  else findings.note(reachText(reach), reachAdvice(reach).join('; '));
}

export function checkSnapshot(findings: Findings, { snapshot, settlement, engineUrl }: Config, nowMs: number): void {
  if (snapshot === NO_CATALOGUE) {
    if (engineUrl !== null) findings.ok('none: the jobs services hold the catalogue');
    else findings.note('SNAPSHOT=none: jobs routes answer 503; callbacks work');
    return;
  }
  if (snapshot === SAMPLE) {
    if (settlement === 'facilitator') {
      findings.mend(
        'the built-in sample is sold for real money, but every job in it is synthetic',
        'set SNAPSHOT to a file of `snapshot build`',
      );
    } else findings.note('the built-in sample; every job in it is synthetic');
    return;
  }
  try {
    const opened = openSnapshot(openSnapshotFile(snapshot));
    const { rowCount, activeCount, newestObservedMs, facts, byteLength } = opened;
    const reach = reachOf(opened);
    opened.close();
    findings.ok(
      `${quantity(rowCount, 'job')}, ${grouped(activeCount)} active, ${sizeText(byteLength)}, every byte checked, built ${daysText(nowMs - facts.builtAtMs)} ago`,
    );
    checkReach(findings, reach);
    if (activeCount === 0)
      findings.note('no job is active: every answer is empty', 'build the snapshot from newer postings');
    if (newestObservedMs === null) return;
    const ageMs = nowMs - newestObservedMs;
    if (ageMs > PERIOD_DAYS * DAY_MS) {
      findings.note(
        `the newest observation is ${daysText(ageMs)} old, outside the period of ${PERIOD_DAYS} days`,
        'build the snapshot from newer postings, then send SIGHUP',
      );
    }
    if (ageMs < -DAY_MS)
      findings.note(
        `the newest observation lies ${daysText(-ageMs)} ahead of this clock`,
        'check the clocks of this machine and of the source',
      );
  } catch (failure) {
    if (!(failure instanceof SnapshotError)) throw failure;
    findings.mend(failure.message, 'set SNAPSHOT to a file that `snapshot inspect` can read');
  }
}

/** @param mode of `constants`: R_OK, W_OK */
function mayAccess(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

/**
 * Judged by the modes of the file and its folder: a start changes neither, and earlier releases created files with
 * 0644. Windows has no modes.
 */
const isOpenToOthers = (path: string): boolean =>
  process.platform !== 'win32' &&
  existsSync(path) &&
  (statSync(path).mode & 0o044) !== 0 &&
  (statSync(dirname(path)).mode & 0o011) !== 0;

function checkSpace(findings: Findings, folder: string, callbackBytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  const freeBytes = bavail * bsize;
  if (freeBytes < FREE_BYTES_MIN) {
    findings.mend(
      `${sizeText(freeBytes)} are free at ${folder}`,
      'free some space: with a full disk the server refuses all paid work',
    );
  } else if (freeBytes < callbackBytes) {
    const found = `callbacks may claim ${sizeText(callbackBytes)}, and ${sizeText(freeBytes)} are free at ${folder}`;
    findings.note(found, `set CALLBACK_BYTES to ${Math.floor(freeBytes / 2)} or free some space`);
  } else findings.ok(`${sizeText(freeBytes)} are free`);
}

/** The remedy for a missing or damaged state. */
const GIVE_UP =
  'restore a sound copy, or start with an empty state by STATE_RESET=true (it refuses payments signed before it for 150 s)';

/** Said of a file without its state.json. */
const RESTORED = `restored or copied (no ${MARKER_FILE} came with it): for ${WINDOW_SECONDS_MAX} s after its first start, the server sells nothing for payments that may have been used before`;

function checkContents(findings: Findings, stateDir: string): void {
  const state = inspectState(stateDir);
  switch (state.kind) {
    case 'new':
      findings.ok(`${stateDir} is empty: the first start creates the state`);
      return;
    case 'in-use':
      findings.ok(`in use by process ${state.processId}, which reports its own faults`);
      return;
    case 'sound':
      findings.ok(`sound, ${sizeText(state.bytes)}`);
      if (state.isCopy) findings.note(RESTORED);
      return;
    case 'unclean':
      findings.note(
        `the server did not close it; its log of ${sizeText(state.logBytes)} is complete, and the next start reads it back`,
      );
      if (state.isCopy) findings.note(RESTORED);
      return;
    case 'unusable':
      findings.mend(state.reason, GIVE_UP);
      return;
    case 'moved':
      findings.mend(state.reason, MOVED_REMEDY);
      return;
    case 'other-release':
      findings.mend(state.reason, 'start the release that wrote it');
      return;
    default:
      state satisfies never;
  }
}

/** A start without STATE_KEY or PAY_TO reads it from the folder. */
function checkKeptFiles(findings: Findings, { stateDir, stateKey, payTo }: Config): void {
  const check = (read: (stateDir: string) => unknown, mend: string): void => {
    try {
      read(stateDir);
    } catch (failure) {
      findings.mend(messageOf(failure), mend);
    }
  };
  if (stateKey === null)
    check(foundStateKey, 'put the file of this state back, so that what it encrypts stays readable');
  if (payTo === null) check(foundPayee, 'remove it, and the next start writes another; or set PAY_TO');
}

export function checkState(findings: Findings, config: Config): void {
  const { stateDir, settlement, stateReset, callbackBytes } = config;
  if (stateDir === IN_MEMORY) {
    const found = 'STATE_DIR=:memory: the server forgets used payments and callbacks when its process ends';
    if (settlement === 'facilitator')
      findings.mend(found, 'set STATE_DIR to a folder: a restart would sell the same payment twice');
    else findings.note(found);
    return;
  }
  if (stateReset)
    findings.note(
      'STATE_RESET=true: the next start replaces a missing or damaged state with an empty one',
      'unset it after that start',
    );
  try {
    const folder = nearestFolder(stateDir);
    if (!statSync(folder).isDirectory()) {
      findings.mend(`${folder} is not a folder`, 'set STATE_DIR to a folder');
      return;
    }
    const paths = [folder, ...[LOCK_FILE, STATE_FILE, MARKER_FILE].map((name) => join(stateDir, name))].filter(
      existsSync,
    );
    const inPlace = paths.find((path) => path !== folder && statSync(path).isDirectory());
    if (inPlace !== undefined) {
      findings.mend(`${inPlace} is a folder, not a file`, 'remove it, or put the file back');
      return;
    }
    const kept = [STATE_KEY_FILE, PAYEE_FILE].map((name) => join(stateDir, name)).filter(existsSync);
    const closed =
      closedFolder(stateDir, STATE_FILE) === undefined
        ? [...paths, ...kept].find((path) => !mayAccess(path, constants.R_OK))
        : stateDir;
    if (closed !== undefined) {
      findings.mend(`this user cannot read ${closed}`, 'run this as the user that runs the server');
      return;
    }
    const locked = paths.find((path) => !mayAccess(path, constants.W_OK));
    if (locked !== undefined)
      findings.mend(`this user cannot write ${locked}`, 'give it to the user that runs the server');
    const file = join(stateDir, STATE_FILE);
    if (isOpenToOthers(file)) findings.note(`other users of this machine can read ${file}`, `chmod 600 ${file}*`);
    checkSpace(findings, folder, callbackBytes);
    checkKeptFiles(findings, config);
    if (folder === resolve(stateDir)) checkContents(findings, stateDir);
    else findings.ok(`${stateDir} does not exist: the first start creates it`);
  } catch (failure) {
    findings.mend(`${stateDir} cannot be read: ${messageOf(failure)}`, 'run this as the user that runs the server');
  }
}
