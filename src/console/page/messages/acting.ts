import { signal } from '@preact/signals';
import type { ActionProgress, ActionRequest } from '../../contract.ts';
import { api, session } from '../api.ts';
import { onAction } from '../stream.ts';
import { orToast, toast } from '../ui/overlays.tsx';
import { follow, resultLine, type RunParts } from './actions.ts';

const PARTS: RunParts = {
  action: async (id) => {
    await signedIn();
    return api.action(id);
  },
  onAction,
  pollEveryMs: 1_000,
};
/** The `sessionStorage` key of the bulk action that this tab started. */
const BULK_KEY = 'sluice-bulk';

/** The bulk action that is running or ended last; it persists when the page changes. */
export const bulk = signal<ActionProgress | undefined>(undefined);

/** Starts a bulk action and follows its progress. Resolves with whether it was started. */
export async function actOnMany(request: ActionRequest): Promise<boolean> {
  return orToast(async () => {
    void followBulk(await api.act(request));
  });
}

/** Undoes a finished bulk action. */
export async function undoMany(id: string): Promise<void> {
  await orToast(async () => {
    void followBulk(await api.undo(id));
  });
}

/** After a reload, follows the bulk action that this tab started. */
export async function resumeBulk(): Promise<void> {
  const id = sessionStorage.getItem(BULK_KEY);
  if (id === null || bulk.value !== undefined) return;
  const known = await api.action(id).catch(() => undefined);
  if (known === undefined) forgetBulk();
  else if (sessionStorage.getItem(BULK_KEY) === id) await followBulk(known);
}

/** Dismisses the bulk action. */
export function forgetBulk(): void {
  sessionStorage.removeItem(BULK_KEY);
  bulk.value = undefined;
}

async function followBulk(first: ActionProgress): Promise<void> {
  sessionStorage.setItem(BULK_KEY, first.id);
  try {
    await follow(first, PARTS, (progress) => {
      // If two actions are running, the one started last is shown.
      if (sessionStorage.getItem(BULK_KEY) === first.id) bulk.value = progress;
    });
  } catch {
    if (sessionStorage.getItem(BULK_KEY) === first.id) forgetBulk();
    toast({
      tone: 'danger',
      text: 'The result of the action is unknown: the gateway may have been restarted. The list shows the current state of each message.',
    });
  }
}

/**
 * Runs an action on one message; a toast shows the result, with Undo. `onChanged` is called after
 * each change.
 */
export async function actOnOne(request: ActionRequest, onChanged: () => void): Promise<void> {
  await orToast(async () => {
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
  await orToast(async () => {
    const end = await follow(await api.undo(id), PARTS, () => undefined);
    onChanged();
    const [refusal] = end.refused;
    if (refusal !== undefined) toast({ tone: 'danger', text: refusal.why });
    else toast({ text: 'Undone.' });
  });
}

/** Resolves once there is a session. */
const signedIn = (): Promise<void> =>
  new Promise((resolve) => {
    if (session.peek()) {
      resolve();
      return;
    }
    const stop = session.subscribe((now) => {
      if (!now) return;
      resolve();
      queueMicrotask(() => stop());
    });
  });
