import type { ActionProgress, EntryAction, EntryState } from '../../contract.ts';
import { plural, STATE_NAMES } from '../formats.ts';
import { isMoveAllowed } from '../../../domain/entry-state.ts';
import { Refusal } from '../refusal.ts';

/** The button, the question before it, and what is said when it is done. */
interface ActionWords {
  readonly verb: string;
  readonly doing: string;
  readonly done: string;
  readonly undone: string;
  /** What will happen; `many` messages. */
  readonly consequence: (many: boolean) => string;
}

export const ACTION_WORDS: Readonly<Record<EntryAction, ActionWords>> = {
  retry: {
    verb: 'Retry',
    doing: 'Retrying',
    done: 'retried',
    undone: 'taken back',
    consequence: (many) =>
      `${many ? 'They go' : 'It goes'} back to the queue, due at once, and ${many ? 'are' : 'is'} submitted to the platform again, in the order of arrival. A message that the platform has already is not made twice.`,
  },
  release: {
    verb: 'Release',
    doing: 'Releasing',
    done: 'released',
    undone: 'taken back',
    consequence: (many) =>
      `${many ? 'They are' : 'It is'} submitted as ${many ? 'they are' : 'it is'}, without asking the rules again. The AI agent will answer ${many ? 'them' : 'it'}.`,
  },
  discard: {
    verb: 'Discard',
    doing: 'Discarding',
    done: 'discarded',
    undone: 'restored',
    consequence: (many) =>
      `${many ? 'They are' : 'It is'} set aside and never submitted. Nobody is told. ${many ? 'They' : 'It'} can be restored until ${many ? 'they are' : 'it is'} swept.`,
  },
  restore: {
    verb: 'Restore',
    doing: 'Restoring',
    done: 'restored',
    undone: 'discarded again',
    consequence: (many) =>
      `${many ? 'They go' : 'It goes'} back to the state before ${many ? 'they were' : 'it was'} discarded.`,
  },
};

const messages = (n: number): string => plural(n, 'message');

/** Of a selection whose states are known: how many stay as they are, and why. */
export function leftAlone(
  action: EntryAction,
  states: ReadonlyMap<EntryState, number>,
): { readonly affected: number; readonly notes: readonly string[] } {
  let affected = 0;
  const notes: string[] = [];
  for (const [state, n] of states) {
    if (isMoveAllowed(action, state)) affected += n;
    else notes.push(`${messages(n)} ${n === 1 ? 'is' : 'are'} ${STATE_NAMES[state].toLowerCase()}`);
  }
  return { affected, notes };
}

/** What a finished action came to, in one line. */
export function resultLine(progress: ActionProgress): string {
  const { action, changed, refused, undone } = progress;
  const words = ACTION_WORDS[action];
  if (undone) return `${messages(changed)} ${words.undone}.`;
  const left = refused.reduce((sum, { count: n }) => sum + n, 0);
  const done = changed === 0 ? `Nothing was ${words.done}` : `${messages(changed)} ${words.done}`;
  return left === 0
    ? `${done}.`
    : `${done}; ${messages(left)} left as ${left === 1 ? 'it was' : 'they were'}.`;
}

export interface RunParts {
  readonly action: (id: string) => Promise<ActionProgress>;
  /** Tells of actions that go on; returns what ends it. */
  onAction(listener: (progress: ActionProgress) => void): () => void;
  /** The stream tells sooner; this is for when it does not. */
  readonly pollEveryMs: number;
}

/**
 * Follows an action, or its taking back, to its end, by the stream and by asking. A number that goes
 * back is an answer that was overtaken. A gateway that is silent, or wants a password first, is asked
 * again: the action goes on without the page.
 * @throws what asking threw three times in a row; Refusal `not_found`: nobody knows of it any more,
 *   as after a restart of the gateway
 */
export async function follow(
  first: ActionProgress,
  parts: RunParts,
  onProgress: (progress: ActionProgress) => void,
): Promise<ActionProgress> {
  let now = first;
  let resolve = (): void => undefined;
  const ended = new Promise<void>((done) => (resolve = done));
  const take = (progress: ActionProgress) => {
    if (progress.id !== first.id || progress.undone !== first.undone) return;
    if (now.finished || progress.done < now.done) return;
    now = progress;
    onProgress(progress);
    if (progress.finished) resolve();
  };
  const stop = parts.onAction(take);
  let failures = 0;
  try {
    onProgress(first);
    const isOver = (): boolean => now.finished;
    while (!isOver()) {
      await Promise.race([ended, pause(parts.pollEveryMs)]);
      if (isOver()) break;
      try {
        take(await parts.action(first.id));
        failures = 0;
      } catch (error) {
        const code = error instanceof Refusal ? error.code : undefined;
        if (code === 'unreachable' || code === 'signed_out') continue;
        failures += 1;
        if (failures === 3 || code === 'not_found') throw error;
      }
    }
    return now;
  } finally {
    stop();
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
