import type { HandshakeAuth, SessionEvent } from '../../channels/chat/events.ts';
import type { StoredSession } from './visitor-notes.ts';

/**
 * What a session means for the tab that it greets. `stale`: meanwhile another tab has become
 * somebody else, or nobody; `other`: this is not the visitor whom the tab shows; `reset`: it is,
 * but the server has lost lines of his.
 */
export type Greeting = 'same' | 'other' | 'reset' | 'stale';

export interface GreetingCase {
  /** What the session answers. */
  readonly asked: HandshakeAuth;
  /** What is in the storage now: the last word of all tabs. */
  readonly stored: StoredSession | undefined;
  /** Whom the tab shows. */
  readonly shown: StoredSession | undefined;
  readonly session: SessionEvent;
}

export function greetingOf({ asked, stored, shown, session }: GreetingCase): Greeting {
  const hasMovedOn = stored?.token !== asked.token && stored?.visitorId !== session.visitorId;
  if (hasMovedOn && asked.identity === undefined) return 'stale';
  if (shown !== undefined && shown.visitorId !== session.visitorId) return 'other';
  return session.lastSeq < (asked.lastSeq ?? 0) ? 'reset' : 'same';
}
