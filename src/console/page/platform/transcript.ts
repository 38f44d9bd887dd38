import { firstOf, type Message, timeOf } from './resources.ts';

/** The side of the chat on which a message is shown. */
export type Side = 'customer' | 'team' | 'internal';

export interface Turn {
  readonly id: string;
  readonly side: Side;
  readonly speaker: string;
  readonly at: number | undefined;
  readonly text: string;
  /** The delivery status of a reply. */
  readonly status: string | undefined;
  readonly attachments: readonly string[];
}

/** The messages of a conversation in chronological order, without duplicates. */
export function transcript(messages: readonly Message[]): readonly Turn[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  return [...byId.values()].map(turnOf).toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0));
}

function turnOf(message: Message): Turn {
  const side = sideOf(message);
  return {
    id: message.id,
    side,
    speaker: speakerOf(message, side),
    at: timeOf(message.created_at) ?? timeOf(message.updated_at),
    text: firstOf(message.text, message.content) ?? '',
    status: side === 'team' ? (message.status ?? undefined) : undefined,
    attachments: namesOf(message.attachments),
  };
}

function sideOf({ role, type, agent_id, user_id }: Message): Side {
  if (type === 'Internal') return 'internal';
  const isTeam =
    role === undefined || role === null
      ? firstOf(agent_id, user_id) !== undefined
      : role !== 'customer';
  return isTeam ? 'team' : 'customer';
}

function speakerOf({ agent_id, user_id, role }: Message, side: Side): string {
  if (side === 'customer') return 'Customer';
  if (user_id) return 'Teammate';
  if (agent_id || role === 'agent') return 'AI agent';
  return side === 'internal' ? 'Internal note' : (role ?? 'Team');
}

const MAX_NAMES = 50;

function namesOf(attachments: unknown): readonly string[] {
  if (!Array.isArray(attachments)) return [];
  return attachments.slice(0, MAX_NAMES).map((item: unknown) => {
    if (typeof item === 'string') return item;
    const { original_name, name, id } = (item ?? {}) as Record<string, unknown>;
    const found = [original_name, name, id].find((each) => typeof each === 'string' && each !== '');
    return typeof found === 'string' ? found : 'attachment';
  });
}
