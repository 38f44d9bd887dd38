import { descriptorShortage } from '../../runtime/descriptor-limit.ts';
import { type CheckResult, verdicts } from './check-result.ts';

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
