import { type Db, statements } from './database.ts';

/** An address that a chat visitor has left for replies. Times are in milliseconds since the epoch. */
export interface LeftAddressRow {
  /** Also the id of the confirmation mail, of which each row has one. */
  id: string;
  shop: string;
  /** With it begin the remote ids of the visitor's messages, and of no one else's. */
  remote_prefix: string;
  email: string;
  /** A keyed hash of the address, the same with other case, dots or `+tag` before the `@`. */
  address_key: string;
  /** A keyed hash of the visitor's network. */
  network_key: string;
  /** BCP 47; of the visitor's page. */
  language: string;
  asked_at: number;
  /** When the link in the confirmation mail was used. */
  confirmed_at: number | null;
  /** When the visitor left another address. */
  replaced_at: number | null;
  stopped_at: number | null;
  /** To send the confirmation mail. */
  attempts: number;
  /**
   * When the confirmation mail is to be tried, unless the address is replaced; null: it was sent, or
   * is no longer sent.
   */
  next_at: number | null;
  /** The conversation that has the mails of replies. */
  thread_id: string | null;
}

export type NewLeftAddress = Pick<
  LeftAddressRow,
  | 'id'
  | 'shop'
  | 'remote_prefix'
  | 'email'
  | 'address_key'
  | 'network_key'
  | 'language'
  | 'asked_at'
>;

/** A reply in the chat that a visitor who has left is to get by email. */
export interface ReplyMailRow {
  /** Of the reply in the chat. */
  message_id: string;
  address_id: string;
  sent_at: number;
  /** When it is mailed unless the visitor has it; null: it was mailed, or waits for a confirmation. */
  due_at: number | null;
  mailed_at: number | null;
  /** The message in the email thread. */
  mail_id: string | null;
}

export const leftAddressTable = (db: Db) => ({
  ...addresses(db),
  ...asked(db),
  ...replyMails(db),
});

function addresses(db: Db) {
  const { row, rows, column, run, has } = statements(db);
  const startingBefore = row<[shop: string, remoteId: string], LeftAddressRow>(
    `SELECT * FROM left_addresses INDEXED BY left_addresses_current
     WHERE shop = ? AND remote_prefix <= ? AND replaced_at IS NULL
     ORDER BY remote_prefix DESC LIMIT 1`,
  );
  return {
    add: run<[NewLeftAddress]>(
      `INSERT INTO left_addresses
         (id, shop, remote_prefix, email, address_key, network_key, language, asked_at, next_at)
       VALUES (@id, @shop, @remote_prefix, @email, @address_key, @network_key, @language,
         @asked_at, @asked_at)`,
    ),
    byId: row<[id: string], LeftAddressRow>(`SELECT * FROM left_addresses WHERE id = ?`),
    /** The current address of the visitor whose message has this remote id. */
    ofRemoteId(shop: string, remoteId: string): LeftAddressRow | undefined {
      // No prefix begins with another one, so only the last one before the id can be its own.
      const found = startingBefore(shop, remoteId);
      return found !== undefined && remoteId.startsWith(found.remote_prefix) ? found : undefined;
    },
    /** The address whose mails of replies are in this conversation. */
    ofThread: row<[conversationId: string], LeftAddressRow>(
      `SELECT * FROM left_addresses WHERE thread_id = ?`,
    ),
    setThread: run<[conversationId: string, id: string]>(
      `UPDATE left_addresses SET thread_id = ? WHERE id = ?`,
    ),
    /** The visitor's rows with this address, whether replaced or not, the last one first. */
    ofVisitor: rows<[shop: string, prefix: string, key: string], LeftAddressRow>(
      `SELECT * FROM left_addresses INDEXED BY left_addresses_visitor
       WHERE shop = ? AND remote_prefix = ? AND address_key = ? ORDER BY asked_at DESC`,
    ),
    restore: run<[id: string]>(`UPDATE left_addresses SET replaced_at = NULL WHERE id = ?`),
    replace: run<[nowMs: number, id: string]>(
      `UPDATE left_addresses SET replaced_at = ? WHERE id = ?`,
    ),
    confirm: run<[nowMs: number, id: string]>(
      `UPDATE left_addresses SET confirmed_at = ?, next_at = NULL WHERE id = ?`,
    ),
    /** Of an address that was stopped, the rows of all visitors who left it. */
    stop: run<[{ shop: string; key: string; at: number }]>(
      `UPDATE left_addresses SET stopped_at = coalesce(stopped_at, @at), next_at = NULL
       WHERE shop = @shop AND address_key = @key`,
    ),
    addStopped: run<[{ shop: string; key: string; at: number }]>(
      `INSERT INTO stopped_addresses (shop, address_key, at) VALUES (@shop, @key, @at)
       ON CONFLICT DO NOTHING`,
    ),
    isStopped: has<[shop: string, key: string]>(
      `SELECT 1 FROM stopped_addresses WHERE shop = ? AND address_key = ?`,
    ),
    /** Confirmation mails to be sent, the one that is due first first. */
    toConfirm: rows<[nowMs: number, limit: number], LeftAddressRow>(
      `SELECT * FROM left_addresses WHERE next_at <= ? AND replaced_at IS NULL
       ORDER BY next_at LIMIT ?`,
    ),
    /** Records an attempt to send the confirmation mail, and when the next one is; null: never. */
    tried: run<[nextAt: number | null, id: string]>(
      `UPDATE left_addresses SET attempts = attempts + 1, next_at = ?
       WHERE id = ? AND next_at IS NOT NULL AND replaced_at IS NULL`,
    ),
    postpone: run<[nextAt: number, id: string]>(
      `UPDATE left_addresses SET next_at = ? WHERE id = ? AND next_at IS NOT NULL`,
    ),
    /** The confirmation mail is not tried any more. */
    settle: run<[id: string]>(`UPDATE left_addresses SET next_at = NULL WHERE id = ?`),
    /** Those that were asked for before this time and never confirmed. */
    expired: column<[beforeMs: number], string>(
      `SELECT id FROM left_addresses INDEXED BY left_addresses_unconfirmed
       WHERE confirmed_at IS NULL AND asked_at <= ?`,
    ),
    remove: run<[id: string]>(`DELETE FROM left_addresses WHERE id = ?`),
  };
}

/** Counts of what was asked for since a time: each row is one confirmation mail. */
function asked(db: Db) {
  const { number } = statements(db);
  const ofShop = 'SELECT count(*) FROM left_addresses WHERE shop = ?';
  return {
    askedOfAddress: number<[shop: string, key: string, since: number]>(
      `${ofShop} AND address_key = ? AND asked_at > ?`,
    ),
    askedOfVisitor: number<[shop: string, prefix: string, since: number]>(
      `${ofShop} AND remote_prefix = ? AND asked_at > ?`,
    ),
    askedOfNetwork: number<[shop: string, key: string, since: number]>(
      `${ofShop} AND network_key = ? AND asked_at > ?`,
    ),
    askedOfShop: number<[shop: string, since: number]>(`${ofShop} AND asked_at > ?`),
  };
}

function replyMails(db: Db) {
  const { row, rows, value, column, run } = statements(db);
  return {
    addMail: run<[Pick<ReplyMailRow, 'message_id' | 'address_id' | 'sent_at' | 'due_at'>]>(
      `INSERT INTO reply_mails (message_id, address_id, sent_at, due_at)
       VALUES (@message_id, @address_id, @sent_at, @due_at) ON CONFLICT DO NOTHING`,
    ),
    mail: row<[messageId: string], ReplyMailRow>(`SELECT * FROM reply_mails WHERE message_id = ?`),
    /** In the order in which they were sent in the chat. */
    dueMails: rows<[nowMs: number, limit: number], ReplyMailRow>(
      `SELECT * FROM reply_mails WHERE due_at <= ? ORDER BY due_at, sent_at LIMIT ?`,
    ),
    /** Once their address is confirmed. */
    release: run<[waitMs: number, addressId: string]>(
      `UPDATE reply_mails SET due_at = sent_at + ? WHERE address_id = ? AND mailed_at IS NULL`,
    ),
    /** To another address of the visitor, which is not confirmed yet. */
    moveMails: run<[to: string, from: string]>(
      `UPDATE reply_mails SET address_id = ?, due_at = NULL
       WHERE address_id = ? AND mailed_at IS NULL`,
    ),
    /** Those of an address wait at least until then. */
    holdMails: run<[untilMs: number, addressId: string]>(
      `UPDATE reply_mails SET due_at = max(due_at, ?)
       WHERE address_id = ? AND due_at IS NOT NULL`,
    ),
    mailed: run<[{ messageId: string; mailId: string; at: number }]>(
      `UPDATE reply_mails SET due_at = NULL, mailed_at = @at, mail_id = @mailId
       WHERE message_id = @messageId`,
    ),
    removeMail: run<[messageId: string]>(`DELETE FROM reply_mails WHERE message_id = ?`),
    removeMailsOf: run<[addressId: string]>(`DELETE FROM reply_mails WHERE address_id = ?`),
    /** Those that were not mailed. */
    removeUnmailedOf: run<[addressId: string]>(
      `DELETE FROM reply_mails WHERE address_id = ? AND mailed_at IS NULL`,
    ),
    /** Those to an address, by whatever visitor, that were not mailed. */
    removeUnmailedTo: run<[shop: string, key: string]>(
      `DELETE FROM reply_mails WHERE mailed_at IS NULL AND address_id IN
         (SELECT id FROM left_addresses WHERE shop = ? AND address_key = ?)`,
    ),
    /** Of the visitor's addresses since a time, the last ones first; milliseconds. */
    mailedSince: column<[{ shop: string; prefix: string; since: number; limit: number }], number>(
      `SELECT m.mailed_at AS at FROM left_addresses a
       CROSS JOIN reply_mails m ON m.address_id = a.id AND m.mailed_at > @since
       WHERE a.shop = @shop AND a.remote_prefix = @prefix ORDER BY at DESC LIMIT @limit`,
    ),
    /** When the next mail is due, of either kind. */
    nextMailAt: value<[], number>(
      `SELECT min(at) FROM (
         SELECT min(next_at) AS at FROM left_addresses
         WHERE next_at IS NOT NULL AND replaced_at IS NULL UNION ALL
         SELECT min(due_at) FROM reply_mails WHERE due_at IS NOT NULL)`,
    ),
  };
}
