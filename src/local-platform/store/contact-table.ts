import { randomUUID } from 'node:crypto';
import { containsOtherAddress } from '../../domain/email-addresses.ts';
import { formsOf } from '../../domain/phone-forms.ts';
import type { ListContactsQuery } from '../../platform-api/schemas.ts';
import { normalPhone } from '../addresses.ts';
import type { Cursors } from './cursors.ts';
import { type Db, statements } from './database.ts';
import {
  allOf,
  type Condition,
  equals,
  isNull,
  just,
  listSlice,
  oneOf,
  type Slice,
  type Streams,
  valuesOf,
} from './listing.ts';
import type { Channel, ContactRow, MessageRow } from './rows.ts';

/** The contact's identity in a request. */
export interface Identity {
  readonly email?: string | null | undefined;
  readonly phone?: string | null | undefined;
  readonly name?: string | undefined;
  readonly remote_id?: string | undefined;
  /** Nothing confirms the sender. The first confirmed name replaces this one. */
  readonly isClaimed?: boolean;
}

interface Keys {
  readonly email: string | undefined;
  readonly phone: string | undefined;
  readonly remoteId: string | undefined;
}

/** Where a request comes from: a channel, or the events API. */
export type Origin = Channel | 'event';

/** The contact of a shop by one of its keys. A number may be stored in another of its forms. */
function finders(db: Db) {
  const find = (column: string) =>
    statements(db).row<[shop: string, value: string], ContactRow>(
      `SELECT * FROM contacts WHERE shop = ? AND ${column} = ? ORDER BY seq LIMIT 1`,
    );
  const byPhones = statements(db).row<[shop: string, forms: string], ContactRow>(
    `SELECT * FROM contacts WHERE shop = ? AND phone IN (SELECT value FROM json_each(?)) ORDER BY seq LIMIT 1`,
  );
  return {
    byId: find('id'),
    byEmail: find('email'),
    byPhone: (shop: string, phone: string) => byPhones(shop, JSON.stringify(formsOf(phone))),
    byRemoteId: find('remote_id'),
  };
}

/**
 * By email (in any case), then phone, then remote id. The address that a message came from takes
 * precedence: people share telephones, and a form accepts any number. A text message matches by its
 * number first, and by email only a contact without another number. Other messages match by email,
 * and by phone only a contact without another email; a chat with an email matches by that alone.
 */
function match(
  { byEmail, byPhone, byRemoteId }: ReturnType<typeof finders>,
  shop: string,
  origin: Origin,
  keys: Keys,
): ContactRow | undefined {
  const { email, phone, remoteId } = keys;
  const ofEmail = email ? byEmail(shop, email) : undefined;
  const ofPhone = phone ? byPhone(shop, phone) : undefined;
  if (origin === 'sms' && phone) {
    const isMatch =
      ofEmail && (ofEmail.phone === null ? !ofPhone : formsOf(phone).includes(ofEmail.phone));
    return isMatch ? ofEmail : ofPhone;
  }
  if (ofEmail) return ofEmail;
  const mayUsePhone = !email || (origin !== 'web_chat' && ofPhone?.email === null);
  if (ofPhone && mayUsePhone) return ofPhone;
  return ifCompatible(keys, remoteId ? byRemoteId(shop, remoteId) : undefined);
}

export function contactTable(db: Db, cursors: Cursors) {
  const { one } = statements(db);
  const find = finders(db);
  const { byId, byEmail, byPhone, byRemoteId } = find;
  const insert = one<[object], ContactRow>(
    `INSERT INTO contacts (id, shop, name, is_name_claimed, email, phone, remote_id,
       last_activity_at, created_at, updated_at)
     VALUES (@id, @shop, @name, @isClaimed, @email, @phone, @remoteId, @now, @now, @now)
     RETURNING *`,
  );
  const touch = one<[object], ContactRow>(
    `UPDATE contacts SET
       name = iif(name IS NULL OR is_name_claimed > @isClaimed, coalesce(@name, name), name),
       is_name_claimed = iif(@name IS NULL, is_name_claimed,
         iif(name IS NULL, @isClaimed, min(is_name_claimed, @isClaimed))),
       email = coalesce(email, @email), phone = coalesce(phone, @phone), remote_id = coalesce(remote_id, @remoteId),
       last_activity_at = @now, updated_at = @now
     WHERE seq = @seq RETURNING *`,
  );
  const keep = one<[object], ContactRow>(
    `UPDATE contacts SET name = coalesce(name, @name), phone = coalesce(@phone, phone),
       last_activity_at = @now, updated_at = @now
     WHERE seq = @seq RETURNING *`,
  );
  const own = 'SELECT conversation_id FROM tickets WHERE contact_id = @from';
  const moves = [
    `UPDATE messages SET contact_id = @into WHERE conversation_id IN (${own}) AND contact_id = @from`,
    `UPDATE conversations SET contact_id = @into WHERE id IN (${own}) AND contact_id = @from`,
    'UPDATE tickets SET contact_id = @into WHERE contact_id = @from',
    'UPDATE OR IGNORE events SET contact_id = @into WHERE contact_id = @from',
    'UPDATE contacts SET parent_contact_id = @into WHERE parent_contact_id = @from',
    // One with another key goes on for messages under that.
    'UPDATE contacts SET parent_contact_id = @into, phone = NULL WHERE id = @from',
    'DELETE FROM contacts WHERE id = @from AND email IS NULL AND remote_id IS NULL',
  ].map((sql) => db.prepare<[{ from: string; into: string }]>(sql));
  return {
    byId,
    /** The customer of a message's conversation; undefined once they have been erased. */
    ofMessage: ({ shop, contact_id: id }: MessageRow): ContactRow | undefined =>
      id === null ? undefined : byId(shop, id),
    /**
     * The contact that matches; else the conversation's own contact, unless it has another email or
     * phone; else a new one. Missing fields are filled in, except with a key of another contact.
     * Nothing is overwritten but a claimed name, because senders choose their display name
     * themselves. A name that contains another address is dropped.
     */
    resolve(
      shop: string,
      origin: Origin,
      identity: Identity,
      now: string,
      known?: string,
    ): ContactRow {
      const keys = keysOf(identity);
      const found =
        match(find, shop, origin, keys) ??
        (known === undefined ? undefined : ifCompatible(keys, byId(shop, known)));
      /** The key, unless another contact has it. */
      const free = (key: string | undefined, owner: typeof byId): string | null => {
        if (key === undefined) return null;
        const taken = owner(shop, key)?.seq;
        return taken === undefined || taken === found?.seq ? key : null;
      };
      const values = {
        ...{ name: nameIn(identity) ?? null, isClaimed: identity.isClaimed ? 1 : 0, now },
        email: free(keys.email, byEmail),
        phone: free(keys.phone, byPhone),
        remoteId: free(keys.remoteId, byRemoteId),
      };
      return found
        ? touch({ ...values, seq: found.seq })
        : insert({ ...values, id: randomUUID(), shop });
    },
    /**
     * Joins the contacts of one person, and the one that has the number, into the oldest, with their tickets;
     * it gets the number. Undefined if there is none.
     */
    join(shop: string, ids: readonly string[], identity: Identity, now: string) {
      const { phone } = keysOf(identity);
      const found = [...ids.map((id) => byId(shop, id)), phone && byPhone(shop, phone)];
      const rows = new Map(found.flatMap((row) => (row ? [[row.seq, row] as const] : [])));
      const [first, ...others] = [...rows.values()].toSorted((a, b) => a.seq - b.seq);
      if (first === undefined) return undefined;
      for (const { id: from } of others) {
        for (const move of moves) move.run({ from, into: first.id });
      }
      const known = others.find((other) => other.phone !== null)?.phone ?? null;
      const name = nameIn(identity) ?? null;
      return keep({ seq: first.seq, now, name, phone: phone ?? known });
    },
    list: (shop: string, query: ListContactsQuery): Slice<ContactRow> =>
      listSlice(db, cursors, contactStreams(shop, query), { ...query, shop }),
  };
}

function ifCompatible(
  { email, phone }: Keys,
  known: ContactRow | undefined,
): ContactRow | undefined {
  const fits = (!email || known?.email === null) && (!phone || known?.phone === null);
  return fits ? known : undefined;
}

/** The keys of an identity, in the form in which they are stored. */
function keysOf(identity: Identity): Keys {
  const phone = present(identity.phone);
  return {
    email: present(identity.email)?.toLowerCase(),
    phone: phone === undefined ? undefined : normalPhone(phone),
    remoteId: present(identity.remote_id),
  };
}

const nameIn = ({ name, email }: Identity) =>
  name !== undefined && containsOtherAddress(name, email ?? undefined) ? undefined : present(name);

const present = (text: string | null | undefined) => {
  const trimmed = text?.trim();
  return trimmed === '' ? undefined : trimmed;
};

/**
 * The streams that match the filters (API §4.10). They use the index of the most selective filter;
 * flags and platforms alone use the shop's facets.
 */
export function contactStreams(shop: string, query: ListContactsQuery): Streams {
  const phones = query.phone === undefined ? undefined : formsOf(normalPhone(query.phone));
  const byNumber = [
    ...equals('row.shop', shop),
    ...equals('row.id', query.id),
    ...oneOf('row.id', query.id__in),
    ...equals('row.email', query.email?.trim().toLowerCase()),
    ...equals('row.is_archived', query.is_archived),
    ...equals('row.parent_contact_id', query.parent_contact_id),
    ...oneOf('row.parent_contact_id', query.parent_contact_id__in),
    ...isNull('row.parent_contact_id', query.parent_contact_id__isnull),
    ...equals('row.remote_platform', query.remote_platform),
    ...oneOf('row.remote_platform', query.remote_platform__in),
  ];
  const conditions = [...byNumber, ...oneOf('row.phone', phones)];
  const by = (index: string, column: string, of: Condition): Streams => ({
    ...{ table: 'contacts', index, column, of, conditions },
  });
  if (query.id !== undefined) return by(BY_ID, 'id', just(query.id));
  if (query.id__in) return by(BY_ID, 'id', each(query.id__in));
  if (query.email !== undefined) return by('contacts_email', 'shop', just(shop));
  if (phones) return { ...by('contacts_phone', 'phone', each(phones)), conditions: byNumber };
  const { parent_contact_id: parent, parent_contact_id__in: parents } = query;
  if (parent !== undefined) {
    return by('contacts_parent', 'parent_contact_id', just(parent));
  }
  if (parents) return by('contacts_parent', 'parent_contact_id', each(parents));
  const facets = allOf([
    ...equals('shop', shop),
    ...equals('is_archived', query.is_archived),
    ...equals('is_child', negated(query.parent_contact_id__isnull)),
    ...equals('remote_platform', query.remote_platform),
    ...oneOf('remote_platform', query.remote_platform__in),
  ]);
  const of = valuesOf('facet', 'contact_facets', facets);
  return { ...by('contacts_facet', 'facet', of), conditions: [] };
}

const BY_ID = 'sqlite_autoindex_contacts_1';

const each = (ids: readonly string[]): Condition => ({
  sql: 'SELECT value FROM json_each(?)',
  values: [JSON.stringify([...new Set(ids)])],
});

const negated = (flag: boolean | undefined) => (flag === undefined ? undefined : !flag);
