import type { ShopId, VisitorId } from '../../domain/ids.ts';
import type { Person, TracedUpload, TracedVisitor } from '../erasure.ts';
import type { Db } from './database.ts';

/** Rows per query: while a read is open, the WAL of a running gateway cannot be reset. */
const ROWS_AT_ONCE = 2000;

interface Row {
  readonly no: number;
  readonly id: VisitorId;
  readonly shop: ShopId;
  readonly email: string | null;
  readonly subject: string | null;
  readonly name: string | null;
  readonly joined: VisitorId | null;
}

const keyOf = (shop: ShopId, id: VisitorId): string => `${shop}/${id}`;

/** A person's visitors: by id, subject or address, and those that were merged with one. */
export function findVisitors(db: Db, person: Person, shopId?: ShopId): TracedVisitor[] {
  const theirs = new Map<string, Row>();
  const joined: Row[] = [];
  const page = db.prepare<[number, number], Row>(
    `SELECT no, id, shop, email, subject, name, joined FROM visitors WHERE no > ? ORDER BY no LIMIT ?`,
  );
  let rows: Row[];
  for (
    let last = 0;
    (rows = page.all(last, ROWS_AT_ONCE)).length > 0;
    last = rows.at(-1)?.no ?? 0
  ) {
    for (const row of rows) {
      if (shopId !== undefined && row.shop !== shopId) continue;
      const names = [row.id, row.email, row.subject, row.name];
      const isTheirs = names.some((name) => name !== null && name !== '' && person.is(name));
      if (isTheirs) theirs.set(keyOf(row.shop, row.id), row);
      if (row.joined !== null) joined.push(row);
    }
  }
  follow(db, theirs, joined);
  return traced(db, [...theirs.values()]);
}

/** Adds visitors that were merged into or from one of them, until none is left. */
function follow(db: Db, theirs: Map<string, Row>, joined: readonly Row[]): void {
  const byId = db.prepare<[string, string], Row>(
    `SELECT no, id, shop, email, subject, name, joined FROM visitors WHERE shop = ? AND id = ?`,
  );
  for (let before = -1; before !== theirs.size;) {
    before = theirs.size;
    for (const row of joined) {
      const known = row.joined === null ? undefined : keyOf(row.shop, row.joined);
      const own = keyOf(row.shop, row.id);
      if (known === undefined) continue;
      if (theirs.has(known)) theirs.set(own, row);
      const target =
        theirs.has(own) && !theirs.has(known) ? byId.get(row.shop, row.joined ?? '') : undefined;
      if (target !== undefined) theirs.set(known, target);
    }
  }
}

function traced(db: Db, rows: readonly Row[]): TracedVisitor[] {
  const lines = db.prepare<[number], { n: number }>(
    `SELECT count(*) AS n FROM journal WHERE visitor = ?`,
  );
  const uploads = db.prepare<[string, string], TracedUpload>(
    `SELECT id, name, type, size, blob FROM uploads WHERE shop = ? AND visitor = ? ORDER BY at, id`,
  );
  return rows.map(({ no, id, shop }) => ({
    ...{ no, id, shopId: shop },
    lines: lines.get(no)?.n ?? 0,
    uploads: uploads.all(shop, id),
  }));
}
