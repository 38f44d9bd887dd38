import type { ActionProgress } from '../../contract.ts';
import { Refusal } from '../refusal.ts';

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
