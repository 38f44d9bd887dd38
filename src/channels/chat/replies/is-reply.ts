import type { Message } from '../../../platform-api/resources.ts';
import type { ChatFormat } from '../../../spool/chat-store.ts';
import { isVisible, isVisibleHtml } from '../visible-text.ts';

/** Names that platforms give the customer's side of a conversation. */
const CUSTOMER_ROLES = new Set(['contact', 'customer', 'visitor', 'end_user', 'end-user']);
/** `remote_id` of a message that came from a visitor through this gateway. */
const OUR_REMOTE_ID = /^chat:[0-9a-f]{32}:/;

/**
 * Whether a message of the platform is for the visitor to see, by what it says of itself. Most
 * fields are optional (API §2.2), and what is internal must never leave: what is in doubt is no
 * reply. Whether it is one that this gateway submitted is a question to the store, asked apart.
 */
export function isReply(message: Message): boolean {
  if (message.status === 'HIDDEN' || message.status === 'FAILED') return false;
  if (isCustomers(message)) return false;
  if (shownText(message) === undefined) return false;
  if (message.type === undefined) return message.agent_id !== null && message.user_id === null;
  return message.type === 'External';
}

/**
 * Whether nothing tells who wrote it. Such a message could be the visitor's own, of which delivery
 * has not written down yet that the platform has it.
 */
export function isUnsigned(message: Message): boolean {
  return message.agent_id === null && message.user_id === null && message.role === undefined;
}

function isCustomers({ role, remote_id: remoteId, user_id: userId }: Message): boolean {
  if (remoteId !== undefined && remoteId !== null && OUR_REMOTE_ID.test(remoteId)) return true;
  const name = role?.toLowerCase();
  if (name === undefined) return false;
  // In the manner of language models "user" is the customer; with a `user_id` it is a teammate.
  return CUSTOMER_ROLES.has(name) || (name === 'user' && userId === null);
}

/** No single line of a chat is longer; the platform's answer has a limit of its own. */
const MAX_REPLY = 100_000;

/** What the visitor is shown, undefined while there is nothing in it. */
export function shownText(message: Message): { text: string; format: ChatFormat } | undefined {
  const { content = '', text = '', format } = message;
  const shown = content.slice(0, MAX_REPLY);
  if (format === 'MARKDOWN' && isVisible(shown)) return { text: shown, format };
  // What is sanitized to nothing would be an empty bubble.
  if (format === 'HTML' && isVisibleHtml(shown)) return { text: shown, format };
  const isPlain = format === undefined || format === 'TEXT';
  // RICH_TEXT is the platform's own markup, and so is whatever else API §2.2 does not name.
  const plain = isPlain && isVisible(content) ? content : text;
  return isVisible(plain) ? { text: plain.slice(0, MAX_REPLY), format: 'TEXT' } : undefined;
}
