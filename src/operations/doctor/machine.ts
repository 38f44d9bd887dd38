import { dirname, resolve } from 'node:path';
import { sizeInWords } from '../../runtime/amounts.ts';
import { descriptorShortage } from '../../runtime/set-up-trouble.ts';
import { type DiskSpace, diskSpace } from '../../runtime/disk-space.ts';
import { codeOf } from '../../runtime/error-code.ts';
import { systemTrouble } from '../../runtime/system-trouble.ts';
import { diskConditions } from '../conditions.ts';
import { type Answer, type CheckResult, resultsFor } from './check.ts';

/** Tolerates the whole seconds of a Date header and the duration of the request. */
const WARN_MS = 30_000;
const FAIL_MS = 300_000;

/** Compares this machine's clock with the Date header of the platform (RFC 9110 §6.6.1). */
export function checkClock(server: string, answer: Answer): CheckResult {
  const { ok, skipped, warning, failed } = resultsFor(
    'clock',
    'this machine',
    `within ${WARN_MS / 1000} s of the clock of ${server}`,
  );
  if ('failure' in answer) return skipped(`not compared: ${answer.failure}`);
  const theirs = Date.parse(answer.headers.get('date') ?? '');
  if (Number.isNaN(theirs)) return skipped('not compared: the response has no date');
  // The header is truncated to seconds; half a second is the expected remainder.
  const aheadMs = Math.round(answer.at - theirs - 500);
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  const off = `${seconds} s ${aheadMs < 0 ? 'behind' : 'ahead'}`;
  if (Math.abs(aheadMs) <= WARN_MS) return ok(`${seconds} s apart`);
  const todo = 'enable NTP on this machine (timedatectl set-ntp true)';
  return Math.abs(aheadMs) <= FAIL_MS ? warning(off, todo) : failed(off, todo);
}

/** The space of the data folder's disk, and from where on too little is free. */
export interface DiskToCheck {
  readonly space: DiskSpace | undefined;
  /** New messages are refused when less than this is free. */
  readonly reserveBytes: number;
  readonly diskBelow: number;
}

/** What the alerts say of the disk. @param space undefined where the file system does not say */
export function checkDisk(
  dataDir: string,
  { space, reserveBytes, diskBelow }: DiskToCheck,
): CheckResult {
  const { ok, warning, failed } = resultsFor(
    'disk',
    dataDir,
    `at least ${sizeInWords(Math.max(diskBelow, reserveBytes))} free`,
  );
  if (space === undefined) {
    return warning(
      'the file system does not say how much space is free: messages are accepted until it is full',
      'watch the space of this disk by other means, or move dataDir to a local disk',
    );
  }
  const [low] = diskConditions({ ...space, reserveBytes }, { diskBelow });
  if (low?.holds !== true) return ok(`${sizeInWords(space.freeBytes)} free`);
  return (low.stopsIntake ? failed : warning)(low.sentence, low.remedy);
}

/** @throws errors unrelated to the folder */
export function unknownDisk(dataDir: string, error: unknown): CheckResult {
  const trouble = systemTrouble(error, { dataDir });
  if (trouble === undefined) throw error;
  return resultsFor('disk', dataDir, 'a folder whose free space can be read').failed(
    trouble.found,
    trouble.todo,
  );
}

/** The space of the folder's disk, if its file system says; the folder need not exist yet. */
export async function spaceOf(folder: string): Promise<DiskSpace | undefined> {
  for (let path = resolve(folder); ; path = dirname(path)) {
    try {
      return await diskSpace(path);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || path === dirname(path)) throw error;
    }
  }
}

/** The number of files and sockets that a gateway may have open, and for what. */
export interface NeededDescriptors {
  readonly needed: number;
  readonly why: string;
}

/** Whether the limit of a running gateway allows the files and sockets it may need. */
export function checkDescriptors(
  pid: string,
  limit: number | undefined,
  { needed, why }: NeededDescriptors,
): CheckResult {
  const subject = `process ${pid}`;
  const expected = `a limit of at least ${needed} open files and sockets`;
  const { ok, skipped, warning } = resultsFor('descriptors', subject, expected);
  if (limit === undefined) return skipped('the limit is not readable by this user, or unlimited');
  const shortage = descriptorShortage(limit, needed, why);
  return shortage === undefined ? ok(`${limit}`) : warning(shortage.found, shortage.todo);
}
