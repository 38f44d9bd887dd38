import { randomUUID } from 'node:crypto';
import type { ListContactsQuery } from '../../platform-api/schemas.ts';
import type { Db } from './database.ts';
import { equals, isNull, listSlice, oneOf, type Slice } from './listing.ts';
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

  /**
   * Finds by email (any case), then phone, then remote id; else takes the conversation's own
   * contact, unless that one has another email or phone; else makes a new contact. What was not known yet is filled in, and nothing is overwritten: a sender chooses
   * his display name.
   */
  resolve(shop: string, identity: Identity, now: string, known?: string): ContactRow {
    const email = present(identity.email)?.toLowerCase();
    const phone = present(identity.phone);
    const remoteId = present(identity.remote_id);
    const found =
      (email && this.#sql.byEmail.get(shop, email)) ??
      (phone && this.#sql.byPhone.get(shop, phone)) ??
      (remoteId && this.#sql.byRemoteId.get(shop, remoteId)) ??
      (known && this.#openTo(email, phone, this.byId(shop, known)));
    const values = {
      shop,
      name: present(identity.name) ?? null,
      email: email ?? null,
      phone: phone ?? null,
      remoteId: remoteId ?? null,
      now,
    };
    const row = found
      ? this.#sql.touch.get({ ...values, seq: found.seq })
      : this.#sql.insert.get({ ...values, id: randomUUID() });
    if (row === undefined) throw new Error('a contact that was not stored');
    return row;
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
    return listSlice(
      this.#db,
      'contacts',
      [
        ...equals('shop', shop),
        ...equals('id', query.id),
        ...oneOf('id', query.id__in),
        ...equals('email', query.email?.toLowerCase()),
        ...equals('phone', query.phone),
        ...equals('is_archived', query.is_archived),
        ...equals('parent_contact_id', query.parent_contact_id),
        ...oneOf('parent_contact_id', query.parent_contact_id__in),
        ...isNull('parent_contact_id', query.parent_contact_id__isnull),
        ...equals('remote_platform', query.remote_platform),
        ...oneOf('remote_platform', query.remote_platform__in),
      ],
      query,
    );
  }
}

const present = (text: string | null | undefined) => {
  const trimmed = text?.trim();
  return trimmed === '' ? undefined : trimmed;
};
