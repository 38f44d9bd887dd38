import { signal } from '@preact/signals';
import type { ActionProgress, ActionRequest } from '../../contract.ts';
import { api } from '../api.ts';
import { asRefusal } from '../load.ts';
import { onAction } from '../stream.ts';
import { toast } from '../ui/toast.tsx';
import { follow, type RunParts } from './action-run.ts';
import { resultLine } from './action-words.ts';

const PARTS: RunParts = { action: (id) => api.action(id), onAction, pollEveryMs: 1_000 };

/** The bulk action that runs, or that ended last; it outlives the page that began it. */
export const bulk = signal<ActionProgress | undefined>(undefined);

/** Begins an action on many and follows it. Answers whether it began. */
export async function actOnMany(request: ActionRequest): Promise<boolean> {
  return tell(async () => {
    const first = await api.act(request);
    void tell(() => follow(first, PARTS, (progress) => (bulk.value = progress)));
  });
}

/** Takes back the bulk action that ended last. */
export async function undoMany(id: string): Promise<void> {
  await tell(async () => {
    const first = await api.undo(id);
    await follow(first, PARTS, (progress) => (bulk.value = progress));
  });
}

/**
 * An action on one message, whose end a toast tells, with the way back. `onChanged` is called each
 * time that the message is another.
 */
export async function actOnOne(request: ActionRequest, onChanged: () => void): Promise<void> {
  await tell(async () => {
    const end = await follow(await api.act(request), PARTS, () => undefined);
    onChanged();
    const [refusal] = end.refused;
    if (end.changed === 0) {
      toast({ tone: 'danger', text: refusal?.why ?? resultLine(end) });
      return;
    }
    toast({
      text: resultLine(end),
      ...(end.canUndo && {
        action: { label: 'Undo', run: () => void undoOne(end.id, onChanged) },
      }),
    });
  });
}

async function undoOne(id: string, onChanged: () => void): Promise<void> {
  await tell(async () => {
    const end = await follow(await api.undo(id), PARTS, () => undefined);
    onChanged();
    const [refusal] = end.refused;
    if (refusal !== undefined) toast({ tone: 'danger', text: refusal.why });
    else toast({ text: 'Taken back.' });
  });
}

/** Whatever goes wrong is said. */
async function tell(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    toast({ tone: 'danger', text: asRefusal(error).message });
    return false;
  }
}
