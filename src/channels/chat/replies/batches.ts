import type { WatchedConversation } from '../../../spool/chat-store.ts';
import type { VisitorId } from '../../../domain/ids.ts';

/** Longer URLs are refused by common servers. */
const MAX_CONVERSATIONS = 150;

/** What one list request asks for, and what is read by a request of its own. */
export interface Batch {
  readonly together: readonly WatchedConversation[];
  readonly alone: readonly WatchedConversation[];
}

/**
 * Divides conversations among list requests. Those of one visitor stay together: his replies are
 * numbered in the order in which they were written, and that shows only when all are there. A
 * visitor with a conversation that is read alone holds up nobody else: he has a batch of his own,
 * behind the others.
 * @param isLong tells conversations whose list is longer than one reading
 */
export function batchesOf(
  watched: readonly WatchedConversation[],
  isLong: (conversation: WatchedConversation) => boolean,
  most = MAX_CONVERSATIONS,
): Batch[] {
  const byVisitor = new Map<VisitorId, WatchedConversation[]>();
  for (const conversation of watched) {
    const own = byVisitor.get(conversation.visitorId) ?? [];
    byVisitor.set(conversation.visitorId, [...own, conversation]);
  }
  const shared: WatchedConversation[][] = [];
  const apart: Batch[] = [];
  for (const own of byVisitor.values()) {
    const alone = own.filter(isLong);
    const last = shared.at(-1);
    if (alone.length > 0 || own.length > most) {
      apart.push(...ofOne(own, alone, most));
    } else if (last === undefined || last.length + own.length > most) {
      shared.push([...own]);
    } else {
      last.push(...own);
    }
  }
  return [...shared.map((together) => ({ together, alone: [] })), ...apart];
}

function ofOne(
  own: readonly WatchedConversation[],
  alone: readonly WatchedConversation[],
  most: number,
): Batch[] {
  const together = own.filter((each) => !alone.includes(each));
  const batches: Batch[] = [{ together: together.slice(0, most), alone }];
  for (let start = most; start < together.length; start += most) {
    batches.push({ together: together.slice(start, start + most), alone: [] });
  }
  return batches;
}
