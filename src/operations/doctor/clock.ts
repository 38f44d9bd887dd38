import type { Answer } from './answer.ts';
import { type CheckResult, verdicts } from './check-result.ts';

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
