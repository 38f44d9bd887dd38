import { z } from 'zod';
import { ENTRY_STATES } from '../../domain/entry-state.ts';
import type { EntrySearch } from '../../spool/entry-index.ts';
import { CHANNELS } from '../../domain/channel.ts';
import { asEntryId, asShopId, type ShopId } from '../../domain/ids.ts';
import { checked, Refusal } from './refusal.ts';
import type { ShopNames } from './shop-routes.ts';

export const entryIdSchema = z
  .string()
  .regex(/^[\w-]{1,64}$/)
  .transform(asEntryId);
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;
const MAX_STATES = 20;

export const shortText = z.string().max(200);
export const wholeNumber = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);
/** How a number in a query is documented. */
export const integer = { type: 'integer', pattern: undefined } as const;

const filterShape = {
  text: shortText
    .optional()
    .describe('Words, or their beginnings, of sender, recipient, subject, address, number and id.'),
  shop: shortText.optional().describe('A configured name, or a shop id.'),
  channel: z.enum(CHANNELS).optional(),
  state: z
    .array(z.enum(ENTRY_STATES))
    .max(MAX_STATES)
    .optional()
    .describe('Any of these: repeat the parameter.'),
  reason: shortText.optional().describe('A reason code, or the beginning of the words.'),
  from: wholeNumber.optional().meta({
    ...integer,
    description: 'Received at this time or later, in milliseconds since 1970.',
  }),
  to: wholeNumber
    .optional()
    .meta({ ...integer, description: 'Received before this time, in milliseconds since 1970.' }),
};
const filterSchema = z.strictObject(filterShape);
export const listSchema = z.strictObject({
  ...filterShape,
  before: entryIdSchema.optional().describe('`next` of the page before.'),
  limit: wholeNumber
    .pipe(z.number().min(1).max(MAX_LIMIT))
    .optional()
    .meta({ ...integer, minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT }),
  count: z.enum(['0', '1']).optional().describe('`1` adds `total`.'),
});

export type Filter = Omit<EntrySearch, 'before' | 'limit'>;

export interface ListRequest {
  readonly search: EntrySearch;
  /** Whether the total is requested. */
  readonly count: boolean;
}

/** Reads the query of `GET /api/entries`. @throws {Refusal} it is invalid */
export function readList(query: unknown, shops: ShopNames): ListRequest {
  const {
    before,
    limit = DEFAULT_LIMIT,
    count,
    ...filter
  } = checked(listSchema, nonEmptyParams(query));
  return {
    search: { ...toFilter(filter, shops), limit, ...(before !== undefined && { before }) },
    count: count === '1',
  };
}

/**
 * Reads the filter of a bulk action: the same parameters without paging. @throws {Refusal} it is
 * invalid
 */
export function readFilter(query: unknown, shops: ShopNames): Filter {
  const { before: _before, limit: _limit, count: _count, ...filter } = nonEmptyParams(query);
  return toFilter(checked(filterSchema, filter), shops);
}

function toFilter(
  { shop, state, ...rest }: z.output<typeof filterSchema>,
  shops: ShopNames,
): Filter {
  const defined = Object.fromEntries(
    Object.entries(rest).filter(([, value]) => value !== undefined),
  );
  return {
    ...defined,
    ...(shop !== undefined && { shopId: shopIdOf(shop, shops) }),
    ...(state !== undefined && { states: state }),
  };
}

/** By name, or by id if the shop is no longer configured. */
function shopIdOf(shop: string, shops: ShopNames): ShopId {
  const found = shops.idOf(shop);
  if (found !== undefined) return found;
  if (z.guid().safeParse(shop).success) return asShopId(shop.toLowerCase());
  throw new Refusal('invalid', 'Shop not found');
}

/** The non-empty parameters; `state` always as a list. */
function nonEmptyParams(query: unknown): Record<string, unknown> {
  if (typeof query !== 'object' || query === null) return {};
  const filled = Object.entries(query).filter(([, value]) => value !== '');
  return Object.fromEntries(
    filled.map(([name, value]) => [name, name === 'state' ? [value].flat() : value]),
  );
}
