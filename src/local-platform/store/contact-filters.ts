import type { ListContactsQuery } from '../../platform-api/schemas.ts';
import { normalPhone } from '../phone-number.ts';
import { allOf, type Condition, equals, isNull, oneOf } from './condition.ts';
import type { Streams } from './listing.ts';

/**
 * How contacts are found by their filters (API §4.10): through the index of the most telling one
 * that is given, and by flags and platforms alone through the shop's facets.
 */
export function contactStreams(shop: string, query: ListContactsQuery): Streams {
  const conditions = [
    ...equals('row.shop', shop),
    ...equals('row.id', query.id),
    ...oneOf('row.id', query.id__in),
    ...equals('row.email', query.email?.trim().toLowerCase()),
    ...equals('row.phone', query.phone === undefined ? undefined : normalPhone(query.phone)),
    ...equals('row.is_archived', query.is_archived),
    ...equals('row.parent_contact_id', query.parent_contact_id),
    ...oneOf('row.parent_contact_id', query.parent_contact_id__in),
    ...isNull('row.parent_contact_id', query.parent_contact_id__isnull),
    ...equals('row.remote_platform', query.remote_platform),
    ...oneOf('row.remote_platform', query.remote_platform__in),
  ];
  const by = (index: string, column: string, of: Condition): Streams => ({
    ...{ table: 'contacts', index, column, of, conditions },
  });
  if (query.id !== undefined) return by(BY_ID, 'id', one(query.id));
  if (query.id__in) return by(BY_ID, 'id', each(query.id__in));
  if (query.email !== undefined) return by('contacts_email', 'shop', one(shop));
  if (query.phone !== undefined) return by('contacts_phone', 'shop', one(shop));
  const { parent_contact_id: parent, parent_contact_id__in: parents } = query;
  if (parent !== undefined) {
    return by('contacts_parent', 'parent_contact_id', one(parent));
  }
  if (parents) return by('contacts_parent', 'parent_contact_id', each(parents));
  const facets = allOf([
    ...equals('shop', shop),
    ...equals('is_archived', query.is_archived),
    ...equals('is_child', negated(query.parent_contact_id__isnull)),
    ...equals('remote_platform', query.remote_platform),
    ...oneOf('remote_platform', query.remote_platform__in),
  ]);
  return {
    ...by('contacts_facet', 'facet', {
      sql: `SELECT facet AS value FROM contact_facets WHERE ${facets.sql}`,
      values: facets.values,
    }),
    conditions: [],
  };
}

const BY_ID = 'sqlite_autoindex_contacts_1';

const one = (value: string): Condition => ({ sql: 'SELECT ? AS value', values: [value] });

const each = (ids: readonly string[]): Condition => ({
  sql: 'SELECT value FROM json_each(?)',
  values: [JSON.stringify([...new Set(ids)])],
});

const negated = (flag: boolean | undefined) => (flag === undefined ? undefined : !flag);
