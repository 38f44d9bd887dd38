import { useChord, useKeys } from '../../ui/keys.ts';

/** The entries of the shortcut list. */
export const QUEUE_KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['j', 'k'], 'Next, previous ticket'],
  [['Enter'], 'Open the ticket'],
];
export const TICKET_KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['r'], 'Reply'],
  [['n'], 'Internal note'],
  [['a'], 'Assign to me'],
  [['e'], 'Complete'],
  [['Ctrl', 'Enter'], 'Send'],
  [['Esc'], 'Back to the queue'],
];

/** Enables `j` and `k`, which move the focus over the links of the queue. */
export function useQueueKeys(): void {
  const isSecond = useChord();
  useKeys((event) => {
    if (isSecond(event)) return false;
    const by = { j: 1, k: -1 }[event.key];
    if (by === undefined) return false;
    const links = [...document.querySelectorAll<HTMLElement>('.queue .wide-cell a')];
    const at = links.findIndex((link) => link === document.activeElement);
    const next = at === -1 ? 0 : Math.min(links.length - 1, Math.max(0, at + by));
    links[next]?.focus();
    return true;
  });
}

/** What the keys on a ticket do. */
export interface TicketKeys {
  readonly reply: () => void;
  readonly note: () => void;
  readonly take: () => void;
  readonly complete: () => void;
  readonly leave: () => void;
}

export function useTicketKeys({ reply, note, take, complete, leave }: TicketKeys): void {
  const isSecond = useChord();
  useKeys((event) => {
    if (isSecond(event)) return false;
    const runs: Readonly<Record<string, () => void>> = {
      ...{ r: reply, n: note, a: take, e: complete, Escape: leave },
    };
    const run = Object.hasOwn(runs, event.key) ? runs[event.key] : undefined;
    run?.();
    return run !== undefined;
  });
}
