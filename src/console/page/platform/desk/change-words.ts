import type { DeskChange, DeskStep, DeskTicketView } from '../../../contract.ts';

/** `Bea assigned it to Ann`, `The customer wrote: “Hello?”`. @param me the reader's name */
export function changeInWords({ what, who, to, text = '' }: DeskChange, me: string): string {
  const by = who === undefined ? '' : who === me ? 'You' : who;
  const quoted = text === '' ? '' : `: “${text}”`;
  switch (what) {
    case 'message':
      return `The customer wrote${quoted}`;
    case 'agent_reply':
      return `The AI agent replied${quoted}`;
    case 'reply':
      return `${by} replied${quoted}`;
    case 'note':
      return `${by} added a note${quoted}`;
    case 'assigned':
      return who === to ? `${by} took it` : `${by} assigned it to ${to === me ? 'you' : to}`;
    case 'unassigned':
      return `${by} put it back for everyone`;
    case 'completed':
      return `${by} completed it`;
    case 'reopened':
      return `${by} reopened it`;
    case 'handed_back':
      return `${by} handed it back to the AI agent`;
    case 'sent_again':
      return `${by} sent a reply again`;
    case 'sent_by_email':
      return `${by} sent a reply by email instead`;
    case 'sent_by_sms':
      return `${by} sent a reply by SMS instead`;
    case 'status':
      return text === 'WaitingUser'
        ? 'It waits for the team again: a reply could not be delivered'
        : 'Its status has changed';
  }
}

type Known = Pick<DeskTicketView, 'messages' | 'steps'>;

/** What others did between two readings of a ticket, oldest first. */
export function changesBetween(before: Known, now: Known, me: string): readonly DeskChange[] {
  const known = new Set(before.messages.map(({ id }) => id));
  const last = before.messages.at(-1)?.at ?? 0;
  const messages = now.messages
    // Earlier ones were loaded on request.
    .filter(({ id, at }) => !known.has(id) && at >= last)
    .map(({ from, isInternal, at, who, text }): DeskChange => {
      const ofTeam = from === 'agent' ? 'agent_reply' : isInternal ? 'note' : 'reply';
      const what = from === 'customer' ? 'message' : ofTeam;
      return { what, at, text: text.slice(0, 200), ...(who !== undefined && { who }) };
    });
  // Not by their number, since there is a limit to it.
  const done = before.steps.at(-1)?.at ?? 0;
  const steps: readonly DeskStep[] = now.steps.filter(({ at }) => at > done);
  return [...messages, ...steps].filter(({ who }) => who !== me).toSorted((a, b) => a.at - b.at);
}
