import { withoutMarkup } from '../without-markup.ts';
import type { AgentContext } from './agent.ts';
import type { Sentences } from './sentences.ts';

/**
 * What is said, as its channel has it: a letter with greeting and signature by email, plain text by
 * SMS, Markdown in the chat.
 */
export function inForm(
  { channel, contactName, shopName }: AgentContext,
  sentences: Sentences,
  body: string,
): string {
  switch (channel) {
    case 'email':
      return `${sentences.dear(firstName(contactName))}\n\n${body}\n\n${sentences.regards}\n${shopName}`;
    case 'sms':
      return withoutMarkup(body);
    default:
      return body;
  }
}

/** "Visitor 7F3A" is a label and no name to be called by; nor is what has no letters. Empty then. */
export function firstName(name: string | undefined): string {
  const first = name?.trim().split(/\s+/, 1)[0] ?? '';
  return /^\p{L}[\p{L}\p{M}'’-]{0,30}$/u.test(first) && first !== 'Visitor' ? first : '';
}
