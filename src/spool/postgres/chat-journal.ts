import type { EntryId, ShopId, VisitorId } from '../../domain/ids.ts';
import { type LineRow, STATES_BEFORE, toLine } from '../chat-rows.ts';
import type {
  AskedLines,
  ChatStore,
  MarkedState,
  NewChatEntry,
  PlatformReply,
  StoredReply,
  VisitorMessage,
} from '../chat-store.ts';
import type { Accepted } from '../entry.ts';
import { Batches, numbered } from './batches.ts';
import { ACCEPT_MESSAGES, STORE_REPLIES, MARK_MESSAGES } from './chat-writes.ts';
import type { Database } from './connection.ts';
import { storedForms } from './intake.ts';
import { jsonOf, storable } from './rows.ts';

type Answer = (Accepted & { seq: number; at: number }) | 'unknown_upload' | 'joined';

interface Sent {
  readonly entry: NewChatEntry;
  readonly message: VisitorMessage;
}

interface AcceptedRow {
  readonly answer: 'accepted' | 'duplicate' | 'unknown_upload' | 'joined';
  readonly id: EntryId;
  readonly seq: number;
  readonly at: number;
}

interface StoredReplyRow extends Pick<
  LineRow,
  'seq' | 'rev' | 'at' | 'agent_id' | 'user_id' | 'choices'
> {
  readonly number: number;
  readonly owner: VisitorId;
  readonly asked_at: number | null;
}

interface Mark {
  readonly shop: ShopId;
  readonly visitor: VisitorId;
  readonly message_id: string;
  readonly state: MarkedState;
}

type Journal = Pick<
  ChatStore,
  'acceptMessage' | 'storeReply' | 'markMessage' | 'linesAfter' | 'linesRevised' | 'linesBefore'
>;

/**
 * The numbered journals of visitors. `ChatStore` documents the methods.
 * Messages, replies and marks that arrive during one commit share the next.
 */
export function chatJournal(database: Database): Journal {
  const messages = new Batches<Sent, Answer>((sent) => accept(database, sent));
  const replies = new Batches<PlatformReply, StoredReply | undefined>((all) =>
    storeReplies(database, all),
  );
  const marks = new Batches<Mark, VisitorId | undefined>((all) => mark(database, all));
  const lines = async (text: string, [shopId, id, from, limit, maxBytes]: AskedLines) => {
    const values = [shopId, storable(id), from, limit, maxBytes ?? null];
    return (await database.query<LineRow>(text, values)).map(toLine);
  };
  return {
    acceptMessage: (entry, message) => messages.add({ entry, message }),
    storeReply: (reply) => replies.add(reply),
    markMessage: (shop, visitor, messageId, state) =>
      marks.add({ shop, visitor, message_id: messageId, state }),
    linesAfter: (...asked) => lines(AFTER, asked),
    linesRevised: (...asked) => lines(REVISED, asked),
    // Read from the newest line on.
    linesBefore: async (...asked) => (await lines(BEFORE, asked)).reverse(),
  };
}

async function accept(database: Database, sent: readonly Sent[]): Promise<Answer[]> {
  // The database chooses the lane.
  const { items, raws } = storedForms(sent.map(({ entry }) => ({ ...entry, lane: '' })));
  const messages = sent.map(({ entry, message }, number) => ({
    ...{ number, shop: entry.shopId, visitor: message.visitorId, entry: items[number] },
    ...{ message_id: message.messageId, text: message.text, uploads: message.uploadIds },
    key_end: entry.dedupKey.slice(message.visitorId.length),
  }));
  const rows = await database.query<AcceptedRow>(
    `SELECT answer, id, seq, at FROM ${ACCEPT_MESSAGES.name}($1, $2) ORDER BY number`,
    [jsonOf(messages), raws],
  );
  return rows.map(({ answer, id, seq, at }) =>
    answer === 'unknown_upload' || answer === 'joined'
      ? answer
      : { id, duplicate: answer === 'duplicate', seq, at },
  );
}

async function storeReplies(
  database: Database,
  replies: readonly PlatformReply[],
): Promise<(StoredReply | undefined)[]> {
  // As it is stored, so that a tab shows the same now and when it reads the line later.
  const lines = replies.map(({ text, platformMessageId, format }) => ({
    ...{ text: storable(text), id: storable(platformMessageId), format },
  }));
  const items = replies.map(({ shopId, visitorId, at, author, updatedAt, choices }, number) => ({
    ...{ number, shop: shopId, visitor: visitorId, ...lines[number], at },
    ...{ agent_id: author?.agentId, user_id: author?.userId, updated_at: updatedAt },
    choices: choices && storable(JSON.stringify(choices)),
  }));
  const rows = await database.query<StoredReplyRow>(`SELECT * FROM ${STORE_REPLIES.name}($1)`, [
    jsonOf(items),
  ]);
  const stored = numbered(lines, rows);
  return lines.map((line, number) => {
    const row = stored[number];
    if (row === undefined) return undefined;
    const { owner, rev, asked_at: askedAt } = row;
    const common = { sender: 'agent', attachments: '[]', state: 'delivered' } as const;
    return {
      visitorId: owner,
      line: toLine({ ...line, message_id: line.id, ...common, ...row }),
      isNew: rev === 0,
      ...(askedAt !== null && { askedAt }),
    };
  });
}

async function mark(
  database: Database,
  marks: readonly Mark[],
): Promise<(VisitorId | undefined)[]> {
  const items = marks.map((each, number) => ({
    ...{ number, ...each, after: STATES_BEFORE[each.state] },
  }));
  const rows = await database.query<{ number: number; owner: VisitorId }>(
    `SELECT * FROM ${MARK_MESSAGES.name}($1)`,
    [jsonOf(items)],
  );
  return numbered(marks, rows).map((row) => row?.owner);
}

/**
 * Only the client's own visitor: a guest's token must not read another visitor's lines. The limit in
 * bytes counts the texts as JSON, which PostgreSQL and JavaScript write alike.
 */
const linesIn = (condition: string, order: string): string => `
  SELECT seq, message_id, sender, text, format, attachments, at, state, agent_id, user_id, rev,
    choices FROM (
    SELECT page.*, row_number() OVER (ORDER BY ${order}) AS place,
      sum(octet_length(to_json(text)::text)) OVER (ORDER BY ${order}) AS bytes
    FROM (
      SELECT journal.* FROM journal JOIN visitor ON visitor.no = journal.visitor
      WHERE shop = $1 AND id = $2 AND ${condition} ORDER BY ${order} LIMIT $4
    ) AS page
  ) AS counted
  WHERE place = 1 OR $5::bigint IS NULL OR bytes <= $5 ORDER BY ${order}`;

const AFTER = linesIn('seq > $3', 'seq');
const REVISED = linesIn('rev > $3 AND rev > 0', 'rev, seq');
const BEFORE = linesIn('seq < $3', 'seq DESC');
