import type { ShopTrial } from '../../contract.ts';
import { plural, span } from '../formats.ts';

/** What came of trying a shop, in one sentence. */
export interface TrialWords {
  readonly ok: boolean;
  readonly text: string;
}

export function trialWords(trial: ShopTrial, now: number): TrialWords {
  const bad = trial.parts.filter(({ outcome }) => outcome === 'failed' || outcome === 'no_answer');
  const isRefused = trial.refusedAlike.some(({ over }) => !over);
  const parts = bad.length === 0 ? [wellWords(trial)] : bad.map((part) => badWords(part, now));
  if (isRefused) parts.push('messages are still refused alike');
  return { ok: bad.length === 0 && !isRefused, text: `${parts.join('; ')}.` };
}

function wellWords({ parts, released, waiting }: ShopTrial): string {
  if (parts.some(({ outcome }) => outcome === 'delivered')) {
    return waiting === 0
      ? 'Delivered: nothing waits any more'
      : `Delivered: ${plural(waiting, 'message goes', 'messages go')} out`;
  }
  if (parts.length > 0) return 'Nothing waits: nothing was tried';
  return released === 0
    ? 'Messages flow'
    : `Messages flow: ${plural(released, 'that waited goes', 'that waited go')} now`;
}

function badWords(
  { part, outcome, reason, nextProbeAt }: ShopTrial['parts'][number],
  now: number,
): string {
  const what = part === 'media' ? 'Attachments: ' : '';
  if (outcome === 'no_answer') return `${what}Still being tried after 15 s`;
  const next =
    nextProbeAt === undefined ? '' : `; next try in ${span(Math.max(1000, nextProbeAt - now))}`;
  return `${what}Still refused${reason === undefined ? '' : `: ${reason}`}${next}`;
}
