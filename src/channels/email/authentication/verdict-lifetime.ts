import type { Clock } from '../../../runtime/clock.ts';
import { checkMessage, type CheckRequest, type CheckSettings } from './check-message.ts';
import type { DnsResolver } from './dns-resolver.ts';
import type { AuthenticationVerdict } from './verdict.ts';

/** Addresses may have longer TTLs. */
const MAX_HOLDS_MS = 300_000;

export interface TimedVerdict {
  readonly verdict: AuthenticationVerdict;
  /** How long the same question has the same answer; 0 if it must be asked again. */
  readonly holdsMs: number;
}

/**
 * Checks a message, and says how long its verdict holds for others with the same `questionOf`: at
 * most as long as the cache would give the same DNS answers, so that remembering it changes nothing
 * but the cost.
 *
 * It does not hold if a look-up failed, also where the library ignored that, or if a record has a
 * macro (RFC 7208 §7), which may read the local part. Nor if the message had a signature or a
 * repeated field, although such a message has no question: what is remembered must not depend on a single reader.
 * @throws the errors of `checkMessage`
 */
export async function checkWithLifetime(
  request: CheckRequest,
  settings: CheckSettings,
  resolver: Pick<DnsResolver, 'resolve'>,
  clock: Clock,
): Promise<TimedVerdict> {
  let holdsUntil = Number.POSITIVE_INFINITY;
  const verdict = await checkMessage(request, settings, async (name, type) => {
    const records = await resolver.resolve(name, type, (keptUntil) => {
      holdsUntil = Math.min(holdsUntil, keptUntil);
    });
    if (type === 'TXT' && records.some(mayHaveMacro)) holdsUntil = Number.NEGATIVE_INFINITY;
    return records;
  });
  const { dkim, arc, repeated } = verdict;
  const isUnsigned = dkim === 'none' && arc === 'none' && repeated === undefined;
  const holds = isUnsigned && !isUndecided(verdict);
  return {
    verdict,
    holdsMs: holds ? Math.min(MAX_HOLDS_MS, Math.max(0, holdsUntil - clock())) : 0,
  };
}

/** Judged by the character alone, which the strings of a record do not separate. */
function mayHaveMacro(record: unknown): boolean {
  return !Array.isArray(record) || record.some((text) => String(text).includes('%'));
}

function isUndecided({ spf, dmarc, claimed }: AuthenticationVerdict): boolean {
  return [spf, dmarc, claimed].includes('temperror');
}
