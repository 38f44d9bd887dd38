import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { sizeInWords } from '../../runtime/amounts.ts';
import { descriptorShortage } from '../../runtime/set-up-trouble.ts';
import { codeOf } from '../../runtime/error-code.ts';
import { systemTrouble } from '../../runtime/system-trouble.ts';
import { type Answer, type CheckResult, verdicts } from './check.ts';

/** A Date header has whole seconds, and answers take their time. */
const WARN_MS = 30_000;
const FAIL_MS = 300_000;

/** This machine's clock against the Date header of the platform (RFC 9110 §6.6.1). */
export function checkClock(server: string, answer: Answer): CheckResult {
  const { ok, skipped, warning, failed } = verdicts(
    'clock',
    'this machine',
    `within ${WARN_MS / 1000} s of the clock of ${server}`,
  );
  if ('failure' in answer) return skipped(`not compared: ${answer.failure}`);
  const theirs = Date.parse(answer.headers.get('date') ?? '');
  if (Number.isNaN(theirs)) return skipped('not compared: its answer has no date');
  // The header is cut off to the second: half of one is the likely rest.
  const aheadMs = Math.round(answer.at - theirs - 500);
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  const off = `${seconds} s ${aheadMs < 0 ? 'behind' : 'ahead'}`;
  if (Math.abs(aheadMs) <= WARN_MS) return ok(`${seconds} s apart`);
  const todo = 'let the machine keep time by NTP (timedatectl set-ntp true)';
  return Math.abs(aheadMs) <= FAIL_MS ? warning(off, todo) : failed(off, todo);
}

/** Below this much of the largest message nothing is accepted any more. */
const REFUSES_BELOW = 1.5;
const WARNS_BELOW = 10;

/** Free space under the data folder against the largest message. */
export function checkDisk(
  dataDir: string,
  freeBytes: number,
  maxMessageBytes: number,
): CheckResult {
  const { ok, warning, failed } = verdicts(
    'disk',
    dataDir,
    `at least ${sizeInWords(WARNS_BELOW * maxMessageBytes)} free`,
  );
  const found = `${sizeInWords(freeBytes)} free`;
  const todo = 'make room on this disk, or keep entries for less time (spool.retain)';
  if (freeBytes < REFUSES_BELOW * maxMessageBytes) {
    return failed(`${found}: new messages are refused`, todo);
  }
  return freeBytes < WARNS_BELOW * maxMessageBytes ? warning(found, todo) : ok(found);
}

/** @throws what is no trouble of the folder's */
export function unknownDisk(dataDir: string, error: unknown): CheckResult {
  const trouble = systemTrouble(error, { dataDir });
  if (trouble === undefined) throw error;
  return verdicts('disk', dataDir, 'a folder whose disk can be looked at').failed(
    trouble.found,
    trouble.todo,
  );
}

/** Of the disk that the folder is on, or will be on once it is made. */
export async function freeBytes(folder: string): Promise<number> {
  for (let path = resolve(folder); ; path = dirname(path)) {
    try {
      const { bavail, bsize } = await statfs(path);
      return bavail * bsize;
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || path === dirname(path)) throw error;
    }
  }
}

/** Files and sockets that a gateway can have open at the same time, and for what. */
export interface NeededDescriptors {
  readonly needed: number;
  readonly why: string;
}

/** Whether a running gateway may open as many files and sockets as it can need. */
export function checkDescriptors(
  pid: string,
  limit: number | undefined,
  { needed, why }: NeededDescriptors,
): CheckResult {
  const subject = `process ${pid}`;
  const expected = `a limit of at least ${needed} open files and sockets`;
  const { ok, skipped, warning } = verdicts('descriptors', subject, expected);
  if (limit === undefined) return skipped('this user may not see its limit, or it has none');
  const shortage = descriptorShortage(limit, needed, why);
  return shortage === undefined ? ok(`${limit}`) : warning(shortage.found, shortage.todo);
}
