import { randomUUID } from 'node:crypto';
import type { Statement } from 'better-sqlite3';
import type { ListContactsQuery } from '../../platform-api/schemas.ts';
import { normalPhone } from '../phone-number.ts';
import { contactStreams } from './contact-filters.ts';
import type { Db } from './database.ts';
import { listSlice, type Slice } from './listing.ts';
import type { Channel, ContactRow } from './rows.ts';

/** Whom a request speaks of. */
export interface Identity {
  readonly email?: string | null | undefined;
  readonly phone?: string | null | undefined;
  readonly name?: string | undefined;
  readonly remote_id?: string | undefined;
}

interface Keys {
  readonly email: string | undefined;
  readonly phone: string | undefined;
  readonly remoteId: string | undefined;
}

/** Where a request comes from: a channel, or a system of the shop's. */
export type Origin = Channel | 'event';

export class ContactTable {
  readonly #db: Db;
  readonly #sql;

  constructor(db: Db) {
    this.#db = db;
    const find = (column: string) =>
      db.prepare<[string, string], ContactRow>(
        `SELECT * FROM contacts WHERE shop = ? AND ${column} = ? ORDER BY seq LIMIT 1`,
      );
    this.#sql = {
      byId: find('id'),
      byEmail: find('email'),
      byPhone: find('phone'),
      byRemoteId: find('remote_id'),
      insert: db.prepare<unknown[], ContactRow>(
        `INSERT INTO contacts (id, shop, name, email, phone, remote_id, last_activity_at,
           created_at, updated_at)
         VALUES (@id, @shop, @name, @email, @phone, @remoteId, @now, @now, @now) RETURNING *`,
      ),
      touch: db.prepare<unknown[], ContactRow>(
        `UPDATE contacts SET name = coalesce(name, @name), email = coalesce(email, @email),
           phone = coalesce(phone, @phone), remote_id = coalesce(remote_id, @remoteId),
           last_activity_at = @now, updated_at = @now
         WHERE seq = @seq RETURNING *`,
      ),
    };
  }

  byId(shop: string, id: string): ContactRow | undefined {
    return this.#sql.byId.get(shop, id);
  }

  /**
   * By email (any case), then phone, then remote id. Nobody is taken for another by what he says
   * beside the address that his message came from: two share a telephone, and a form takes any
   * number. So a text message finds by its number first where that is known, and by an email only
   * who has no other number; everything else finds by its email, and by a phone only who has no
   * other email; a chat that gives an email finds by that alone.
   */
  #find(shop: string, origin: Origin, keys: Keys): ContactRow | undefined {
    const { email, phone, remoteId } = keys;
    const byEmail = email ? this.#sql.byEmail.get(shop, email) : undefined;
    const byPhone = phone ? this.#sql.byPhone.get(shop, phone) : undefined;
    if (origin === 'sms' && phone) {
      const isOpen = byEmail?.phone === phone || (byEmail?.phone === null && !byPhone);
      return isOpen ? byEmail : byPhone;
    }
    if (byEmail) return byEmail;
    const isOpen = !email || (origin !== 'web_chat' && byPhone?.email === null);
    if (byPhone && isOpen) return byPhone;
    const byRemoteId = remoteId ? this.#sql.byRemoteId.get(shop, remoteId) : undefined;
    return this.#openTo(email, phone, byRemoteId);
  }

  /**
   * The contact that is found; else the conversation's own contact, unless that one has another
   * email or phone; else a new one. What was not known yet is filled in, unless it is another
   * contact's, and nothing is overwritten: a sender chooses his display name.
   */
  resolve(
    shop: string,
    origin: Origin,
    identity: Identity,
    now: string,
    known?: string,
  ): ContactRow {
    const keys = keysOf(identity);
    const { email, phone, remoteId } = keys;
    const found =
      this.#find(shop, origin, keys) ??
      (known === undefined ? undefined : this.#openTo(email, phone, this.byId(shop, known)));
    const name = present(identity.name) ?? null;
    const row = found
      ? this.#sql.touch.get({
          ...{ seq: found.seq, name, now },
          email: this.#freeFor(found, email, this.#sql.byEmail),
          phone: this.#freeFor(found, phone, this.#sql.byPhone),
          remoteId: this.#freeFor(found, remoteId, this.#sql.byRemoteId),
        })
      : this.#sql.insert.get({
          ...{ id: randomUUID(), shop, name, now },
          email: this.#freeFor({ shop }, email, this.#sql.byEmail),
          phone: this.#freeFor({ shop }, phone, this.#sql.byPhone),
          remoteId: this.#freeFor({ shop }, remoteId, this.#sql.byRemoteId),
        });
    if (row === undefined) throw new Error('a contact that was not stored');
    return row;
  }

  /** The key, when no other contact is found by it. */
  #freeFor(
    { shop, seq }: Pick<ContactRow, 'shop'> & Partial<Pick<ContactRow, 'seq'>>,
    key: string | undefined,
    owner: Statement<[string, string], ContactRow>,
  ): string | null {
    if (key === undefined) return null;
    const taken = owner.get(shop, key)?.seq;
    return taken === undefined || taken === seq ? key : null;
  }

  #openTo(
    email: string | undefined,
    phone: string | undefined,
    known: ContactRow | undefined,
  ): ContactRow | undefined {
    if (known === undefined) return undefined;
    const fits = (!email || known.email === null) && (!phone || known.phone === null);
    return fits ? known : undefined;
  }

  list(shop: string, query: ListContactsQuery): Slice<ContactRow> {
    return listSlice(this.#db, contactStreams(shop, query), query);
  }
}

/** What contacts are found by, as it is stored. */
function keysOf(identity: Identity): Keys {
  const phone = present(identity.phone);
  return {
    email: present(identity.email)?.toLowerCase(),
    phone: phone === undefined ? undefined : normalPhone(phone),
    remoteId: present(identity.remote_id),
  };
}

const present = (text: string | null | undefined) => {
  const trimmed = text?.trim();
  return trimmed === '' ? undefined : trimmed;
};
