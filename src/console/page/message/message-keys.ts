import type { EntryAction } from '../../contract.ts';
import { useChord, useKeys } from '../ui/keys.ts';

/** What the keys on the page of one message do; `?` lists them. */
export interface MessageKeys {
  readonly older: () => void;
  readonly newer: () => void;
  readonly leave: () => void;
  /** Does nothing if the action is not allowed now. */
  readonly act: (action: EntryAction) => void;
}

/** The entries of the shortcut list. */
export const MESSAGE_KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['j', 'k'], 'Older, newer message'],
  [['r'], 'Retry'],
  [['s'], 'Release (submit)'],
  [['d'], 'Discard'],
  [['u'], 'Restore'],
  [['Esc'], 'Back to the list'],
];

/** Enables the keys. */
export function useMessageKeys({ older, newer, leave, act }: MessageKeys): void {
  const isSecond = useChord();
  useKeys((event) => {
    if (isSecond(event)) return false;
    const runs: Readonly<Record<string, () => void>> = {
      ...{ j: older, k: newer, Escape: leave },
      r: () => act('retry'),
      s: () => act('release'),
      d: () => act('discard'),
      u: () => act('restore'),
    };
    const run = Object.hasOwn(runs, event.key) ? runs[event.key] : undefined;
    run?.();
    return run !== undefined;
  });
}
