import { signal } from '@preact/signals';
import type { ActionProgress, ActionRequest } from '../../contract.ts';
import { api, asRefusal, session } from '../api.ts';
import { onAction } from '../stream.ts';
import { toast } from '../ui/overlays.tsx';
import { follow, resultLine, type RunParts } from './actions.ts';

const PARTS: RunParts = {
  action: async (id) => {
    await signedIn();
    return api.action(id);
  },
  onAction,
  pollEveryMs: 1_000,
};
/** Of this tab: a page that is loaded again takes up what it began. */
const KEPT = 'sluice-bulk';

/** The bulk action that runs, or that ended last; it outlives the page that began it. */
export const bulk = signal<ActionProgress | undefined>(undefined);

/** Begins an action on many and follows it. Answers whether it began. */
export async function actOnMany(request: ActionRequest): Promise<boolean> {
  return tell(async () => {
    void followBulk(await api.act(request));
  });
}

/** Takes back the bulk action that ended last. */
export async function undoMany(id: string): Promise<void> {
  await tell(async () => {
    void followBulk(await api.undo(id));
  });
}

/** Takes up the bulk action that this tab began before it was loaded again. */
export async function resumeBulk(): Promise<void> {
  const id = sessionStorage.getItem(KEPT);
  if (id === null || bulk.value !== undefined) return;
  const known = await api.action(id).catch(() => undefined);
  if (known === undefined) forgetBulk();
  else if (sessionStorage.getItem(KEPT) === id) await followBulk(known);
}

/** Called once the action is read, or when it is no longer known. */
export function forgetBulk(): void {
  sessionStorage.removeItem(KEPT);
  bulk.value = undefined;
}

async function followBulk(first: ActionProgress): Promise<void> {
  sessionStorage.setItem(KEPT, first.id);
  try {
    await follow(first, PARTS, (progress) => {
      // Of two that run, the one that was begun last is shown.
      if (sessionStorage.getItem(KEPT) === first.id) bulk.value = progress;
    });
  } catch {
    if (sessionStorage.getItem(KEPT) === first.id) forgetBulk();
    toast({
      tone: 'danger',
      text: 'Nobody knows how far the action got: the gateway may have been restarted. The list shows what each message is now.',
    });
  }
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

/** Shows any error as a toast. */
async function tell(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    toast({ tone: 'danger', text: asRefusal(error).message });
    return false;
  }
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
