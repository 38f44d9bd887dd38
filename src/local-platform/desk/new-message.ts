import { randomUUID } from 'node:crypto';
import { DESK_FILES_MAX_BYTES, DeskRefused, type NewDeskMessage } from '../../domain/desk.ts';
import { remoteIdOf } from '../outbound/address-reply.ts';
import { plainText, withoutMarkup } from '../plain-text.ts';
import {
  type ConversationRow,
  type MediaRow,
  type MessageRow,
  personOf,
  type TicketRow,
} from '../store/rows.ts';
import type { Store } from '../store/store.ts';

const FILES_MAX = 10;
/** Of one MMS (Twilio, "Accepted content types for media"). */
const TEXT_FILES_MAX_BYTES = 5 * 1024 * 1024;

/** Nobody writes to a number that has sent STOP. */
export const OPTED_OUT = [
  'conflict',
  'The number has opted out of texts until it sends START',
] as const;

/** Who writes, and where. */
export interface Authoring {
  readonly ticket: TicketRow;
  readonly conversation: ConversationRow;
  readonly userId: string;
  readonly now: string;
}

export interface MessageKind {
  /** A note. */
  readonly isInternal: boolean;
  /** Whether others can follow links to its files. */
  readonly canLink: boolean;
}

/**
 * Stores a person's reply, which is PENDING, or their note. A reply has the role `agent`, as it is on
 * the shop's side; `user_id` tells whose it is. Must run within a write.
 * @throws {DeskRefused} it is empty, or a file of it cannot be sent
 */
export function storeMessage(
  store: Store,
  { ticket, conversation, userId, now }: Authoring,
  message: NewDeskMessage,
  kind: MessageKind,
): MessageRow {
  const { isInternal } = kind;
  const files = filesOf(store, conversation, message, kind);
  const { content, format } = contentOf(conversation, message, isInternal);
  const question = store.messages.lastOfCustomer(conversation.id);
  const id = randomUUID();
  for (const file of files) store.desk.fileSent(file.id);
  return store.messages.create(
    {
      ...{ id, shop: ticket.shop, conversationId: conversation.id, ticketId: ticket.id },
      ...{ contactId: question?.contact_id ?? ticket.contact_id, agentId: null, userId },
      ...{ isInternal, content, text: plainText(content, format), format, role: 'agent' },
      status: isInternal ? 'DELIVERED' : 'PENDING',
      remoteId: isInternal ? null : remoteIdOf(id, conversation, question),
      ...{ email: null, createdAt: now, now, unanswered: false },
      // Of a note too, so that it is erased with what it is about.
      inReplyTo: question?.id ?? null,
      ...{ sender: null, agentContact: null },
      ...(question && !isInternal && { person: personOf(conversation, question) }),
    },
    files.map((file) => file.id),
  );
}

function filesOf(
  store: Store,
  { shop, type }: ConversationRow,
  { files }: NewDeskMessage,
  { isInternal, canLink }: MessageKind,
): MediaRow[] {
  const ids = [...new Set(files)];
  if (ids.length > FILES_MAX) {
    throw new DeskRefused('invalid', `At most ${FILES_MAX} files can be attached`);
  }
  const isText = type === 'sms' && !isInternal;
  // A provider fetches them, or the customer follows a link.
  if (ids.length > 0 && isText && !canLink) {
    throw new DeskRefused('invalid', 'Files by SMS need an https address in http.publicUrl');
  }
  const rows = ids.flatMap((id) => store.media.byId(shop, id) ?? []);
  if (rows.length < ids.length) {
    throw new DeskRefused('invalid', 'A file is missing: attach it again');
  }
  const bytes = rows.reduce((sum, { size }) => sum + size, 0);
  if (bytes > DESK_FILES_MAX_BYTES) {
    throw new DeskRefused('invalid', 'The files are too large together: at most 15 MB');
  }
  if (isText && bytes > TEXT_FILES_MAX_BYTES) {
    throw new DeskRefused('invalid', 'The files are too large for SMS: at most 5 MB together');
  }
  return rows;
}

/** A text message has no markup. */
function contentOf(
  { type }: ConversationRow,
  { text, format }: NewDeskMessage,
  isInternal: boolean,
) {
  if (text.trim() === '') throw new DeskRefused('invalid', 'The message is empty');
  return type === 'sms' && format === 'MARKDOWN' && !isInternal
    ? { content: withoutMarkup(text), format: 'TEXT' as const }
    : { content: text, format };
}
