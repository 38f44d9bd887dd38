import { randomUUID } from 'node:crypto';
import type { Message } from '../../../../src/platform-api/resources.ts';

/** A message as a platform lists it that says as little as the document allows. */
export function bareMessage(change: Partial<Message> = {}): Message {
  return {
    id: randomUUID(),
    conversation_id: null,
    ticket_id: null,
    contact_id: null,
    agent_id: null,
    user_id: null,
    content: undefined,
    text: undefined,
    format: undefined,
    role: undefined,
    status: undefined,
    type: undefined,
    created_at: undefined,
    updated_at: '2026-01-01T00:00:00Z',
    ...change,
  };
}

/** A reply of the agent. */
export const aReply = (change: Partial<Message> = {}): Message =>
  bareMessage({
    content: 'Here is your answer.',
    format: 'TEXT',
    type: 'External',
    role: 'agent',
    agent_id: randomUUID(),
    status: 'DELIVERED',
    ...change,
  });
