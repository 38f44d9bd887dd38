import { Badge, type Tone } from '../ui/badge.tsx';
import type { IconName } from '../ui/icon.tsx';

/** A ticket's or a conversation's status, in the platform's words (API §3). */
const LOOKS: Readonly<Record<string, readonly [Tone, IconName, string]>> = {
  New: ['accent', 'info', 'New'],
  Open: ['accent', 'queued', 'Open'],
  Completed: ['ok', 'ok', 'Completed'],
  Archived: ['neutral', 'discarded', 'Archived'],
  WaitingUser: ['warning', 'pause', 'Waits for the team'],
  WaitingContact: ['neutral', 'pause', 'Waits for the customer'],
  new: ['accent', 'info', 'New'],
  open: ['accent', 'queued', 'Open'],
  pending: ['warning', 'pause', 'Pending'],
};

export function StatusBadge({ status }: { readonly status: string | null | undefined }) {
  if (!status) return <span class="muted">–</span>;
  const known = Object.hasOwn(LOOKS, status) ? LOOKS[status] : undefined;
  const [tone, icon, words] = known ?? (['neutral', 'info', status] as const);
  return (
    <Badge tone={tone} icon={icon}>
      {words}
    </Badge>
  );
}
