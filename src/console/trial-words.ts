import { counted } from '../runtime/amounts.ts';
import type { PartTrial, ShopTrial } from '../domain/shop-trial.ts';

/** How long the server and the command line wait for the result of a trial. */
export const TRIAL_TIMEOUT_MS = 15_000;

export interface TrialWords {
  readonly outcome: 'flows' | PartTrial['outcome'];
  /** Without initial capital and full stop, since it follows the shop's name. */
  readonly text: string;
  /** Whether no part fails and no message is refused. */
  readonly ok: boolean;
}

/**
 * The result of a trial, for the console's page and for `sluice shops try`.
 * @param span formats a duration in milliseconds
 */
export function trialWords(
  trial: ShopTrial,
  now: number,
  span: (ms: number) => string,
): TrialWords {
  const failing = trial.parts.filter(({ outcome }) => isFailure(outcome));
  const refusals = trial.refusedAlike.map(({ words, over }) =>
    over
      ? `no longer refused: ${words}`
      : `messages are still refused with the same error: ${words}`,
  );
  const [worst] = failing;
  const results =
    worst === undefined
      ? [successWords(trial)]
      : failing.map((part) => failureWords(part, now, span));
  return {
    outcome: worst?.outcome ?? successOf(trial),
    text: [...results, ...refusals].join('; '),
    ok: worst === undefined && trial.refusedAlike.every(({ over }) => over),
  };
}

const isFailure = (outcome: PartTrial['outcome']): boolean =>
  outcome === 'failed' || outcome === 'no_answer';

function successOf({ parts }: ShopTrial): 'flows' | 'delivered' | 'nothing_to_try' {
  if (parts.length === 0) return 'flows';
  return parts.some(({ outcome }) => outcome === 'delivered') ? 'delivered' : 'nothing_to_try';
}

function successWords(trial: ShopTrial): string {
  const { waiting, released } = trial;
  switch (successOf(trial)) {
    case 'nothing_to_try':
      return 'no message is waiting, so nothing was tried';
    case 'delivered':
      return waiting === 0
        ? 'delivered; no message is waiting'
        : `delivered; ${counted(waiting, 'message follows', 'messages follow')}`;
    case 'flows':
      if (released > 0) {
        return `messages flow; ${counted(released, 'waiting message is', 'waiting messages are')} sent now`;
      }
      return waiting === 0
        ? 'messages flow; none is waiting'
        : `messages flow; ${counted(waiting, 'is', 'are')} on the way`;
  }
}

const PART_NAMES = { messages: 'deliveries', media: 'uploads of attachments' } as const;

function failureWords(
  { part, outcome, reason, nextProbeAt }: PartTrial,
  now: number,
  span: (ms: number) => string,
): string {
  const name = PART_NAMES[part];
  if (outcome === 'no_answer') {
    return `${name} have not finished after ${TRIAL_TIMEOUT_MS / 1000} s`;
  }
  const why = reason === undefined ? '' : `: ${reason}`;
  const next =
    nextProbeAt === undefined ? '' : `; next attempt in ${span(Math.max(1000, nextProbeAt - now))}`;
  return `${name} still fail${why}${next}`;
}
