import { randomUUID } from 'node:crypto';
import type { Statement } from 'better-sqlite3';
import type { ListContactsQuery } from '../../platform-api/schemas.ts';
import { normalPhone } from '../phone-number.ts';
import { contactStreams } from './contact-filters.ts';
import type { Db } from './database.ts';
import { listSlice, type Slice } from './listing.ts';
import type { ContactRow } from './rows.ts';

/** Whom a request speaks of. */
export interface Identity {
  readonly email?: string | null | undefined;
  readonly phone?: string | null | undefined;
  readonly name?: string | undefined;
  readonly remote_id?: string | undefined;
}

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

  /** By email (any case), then phone, then remote id. */
  find(shop: string, identity: Identity): ContactRow | undefined {
    const { email, phone, remoteId } = keysOf(identity);
    return (
      (email ? this.#sql.byEmail.get(shop, email) : undefined) ??
      (phone ? this.#sql.byPhone.get(shop, phone) : undefined) ??
      (remoteId ? this.#sql.byRemoteId.get(shop, remoteId) : undefined)
    );
  }

  /**
   * The contact that `find` finds; else the conversation's own contact, unless that one has
   * another email or phone; else a new one. What was not known yet is filled in, unless it is
   * another contact's, and nothing is overwritten: a sender chooses his display name.
   */
  resolve(shop: string, identity: Identity, now: string, known?: string): ContactRow {
    const { email, phone, remoteId } = keysOf(identity);
    const found =
      this.find(shop, identity) ??
      (known === undefined ? undefined : this.#openTo(email, phone, this.byId(shop, known)));
    const name = present(identity.name) ?? null;
    const row = found
      ? this.#sql.touch.get({
          ...{ seq: found.seq, name, now, email: email ?? null },
          phone: this.#freeFor(found, phone, this.#sql.byPhone),
          remoteId: this.#freeFor(found, remoteId, this.#sql.byRemoteId),
        })
      : this.#sql.insert.get({
          ...{ id: randomUUID(), shop, name, now, email: email ?? null },
          ...{ phone: phone ?? null, remoteId: remoteId ?? null },
        });
    if (row === undefined) throw new Error('a contact that was not stored');
    return row;
  }

  /** The key, when no other contact is found by it. */
  #freeFor(
    { shop, seq }: ContactRow,
    key: string | undefined,
    owner: Statement<[string, string], ContactRow>,
  ): string | null {
    if (key === undefined) return null;
    return (owner.get(shop, key)?.seq ?? seq) === seq ? key : null;
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
function keysOf(identity: Identity) {
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
