import type { EntryId, ShopId, VisitorId } from '../../domain/ids.ts';
import { type LineRow, STATES_BEFORE, toLine } from '../chat-rows.ts';
import type {
  AskedLines,
  ChatParams,
  JournalLine,
  MarkedState,
  NewChatEntry,
  PlatformReply,
  StoredReply,
  VisitorMessage,
} from '../chat-store.ts';
import type { Accepted } from '../entry.ts';
import { Batches } from './batches.ts';
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

/**
 * The numbered journals of visitors. `ChatStore` documents the methods.
 * Messages, replies and marks that arrive during one commit share the next.
 */
export class ChatJournal {
  readonly #database: Database;
  readonly #messages = new Batches<Sent, Answer>((sent) => this.#accept(sent));
  readonly #replies = new Batches<PlatformReply, StoredReply | undefined>((all) =>
    this.#storeReplies(all),
  );
  readonly #marks = new Batches<Mark, VisitorId | undefined>((marks) => this.#mark(marks));

  constructor(database: Database) {
    this.#database = database;
  }

  acceptMessage(entry: NewChatEntry, message: VisitorMessage): Promise<Answer> {
    return this.#messages.add({ entry, message });
  }

  async #accept(sent: readonly Sent[]): Promise<Answer[]> {
    // The database chooses the lane.
    const { items, raws } = storedForms(sent.map(({ entry }) => ({ ...entry, lane: '' })));
    const messages = sent.map(({ entry, message }, number) => ({
      ...{ number, shop: entry.shopId, visitor: message.visitorId, entry: items[number] },
      ...{ message_id: message.messageId, text: message.text, uploads: message.uploadIds },
      key_end: entry.dedupKey.slice(message.visitorId.length),
    }));
    const rows = await this.#database.query<AcceptedRow>(
      `SELECT answer, id, seq, at FROM ${ACCEPT_MESSAGES.name}($1, $2) ORDER BY number`,
      [jsonOf(messages), raws],
    );
    return rows.map(({ answer, id, seq, at }) =>
      answer === 'unknown_upload' || answer === 'joined'
        ? answer
        : { id, duplicate: answer === 'duplicate', seq, at },
    );
  }

  storeReply(reply: PlatformReply): Promise<StoredReply | undefined> {
    return this.#replies.add(reply);
  }

  async #storeReplies(replies: readonly PlatformReply[]): Promise<(StoredReply | undefined)[]> {
    // As it is stored, so that a tab shows the same now and when it reads the line later.
    const lines = replies.map(({ text, platformMessageId, format }) => ({
      ...{ text: storable(text), id: storable(platformMessageId), format },
    }));
    const items = replies.map(({ shopId, visitorId, at, author, updatedAt, choices }, number) => ({
      ...{ number, shop: shopId, visitor: visitorId, ...lines[number], at },
      ...{ agent_id: author?.agentId, user_id: author?.userId, updated_at: updatedAt },
      choices: choices && storable(JSON.stringify(choices)),
    }));
    const rows = await this.#database.query<StoredReplyRow>(
      `SELECT * FROM ${STORE_REPLIES.name}($1)`,
      [jsonOf(items)],
    );
    const stored = new Map(rows.map((row) => [row.number, row]));
    return lines.map((line, number) => {
      const row = stored.get(number);
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

  markMessage(...[shopId, visitorId, messageId, state]: ChatParams<'markMessage'>) {
    return this.#marks.add({ shop: shopId, visitor: visitorId, message_id: messageId, state });
  }

  async #mark(marks: readonly Mark[]): Promise<(VisitorId | undefined)[]> {
    const rows = await this.#database.query<{ number: number; owner: VisitorId }>(
      `SELECT * FROM ${MARK_MESSAGES.name}($1)`,
      [
        jsonOf(
          marks.map((mark, number) => ({ number, ...mark, after: STATES_BEFORE[mark.state] })),
        ),
      ],
    );
    const owners = new Map(rows.map(({ number, owner }) => [number, owner]));
    return marks.map((_, number) => owners.get(number));
  }

  linesAfter(...asked: AskedLines): Promise<JournalLine[]> {
    return this.#lines(AFTER, asked);
  }

  linesRevised(...asked: AskedLines): Promise<JournalLine[]> {
    return this.#lines(REVISED, asked);
  }

  async linesBefore(...asked: AskedLines): Promise<JournalLine[]> {
    // Read from the newest line on.
    return (await this.#lines(BEFORE, asked)).reverse();
  }

  async #lines(text: string, [shopId, id, from, limit, maxBytes]: AskedLines) {
    const values = [shopId, storable(id), from, limit, maxBytes ?? null];
    return (await this.#database.query<LineRow>(text, values)).map(toLine);
  }
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
