import { z } from 'zod';
import { ENTRY_STATES } from '../../domain/entry-state.ts';
import type { EntrySearch } from '../../spool/operator-store.ts';
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

const once = z.string().max(200);
const whole = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);

const filterShape = {
  text: once.optional(),
  shop: once.optional(),
  channel: z.enum(CHANNELS).optional(),
  state: z.array(z.enum(ENTRY_STATES)).max(MAX_STATES).optional(),
  reason: once.optional(),
  from: whole.optional(),
  to: whole.optional(),
};
const filterSchema = z.strictObject(filterShape);
const listSchema = z.strictObject({
  ...filterShape,
  before: entryIdSchema.optional(),
  limit: whole.pipe(z.number().min(1).max(MAX_LIMIT)).optional(),
  count: z.enum(['0', '1']).optional(),
});

export type Filter = Omit<EntrySearch, 'before' | 'limit'>;

export interface ListRequest {
  readonly search: EntrySearch;
  /** Whether the number of all is wanted. */
  readonly count: boolean;
}

/** @throws {Refusal} the query of `GET /api/entries` */
export function readList(query: unknown, shops: ShopNames): ListRequest {
  const { before, limit = DEFAULT_LIMIT, count, ...filter } = checked(listSchema, given(query));
  return {
    search: { ...toFilter(filter, shops), limit, ...(before !== undefined && { before }) },
    count: count === '1',
  };
}

/** @throws {Refusal} the filter of a bulk action: the same parameters, less those of a page */
export function readFilter(query: unknown, shops: ShopNames): Filter {
  const { before: _before, limit: _limit, count: _count, ...filter } = given(query);
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

/** By its name, or by its id when it is no longer configured. */
function shopIdOf(shop: string, shops: ShopNames): ShopId {
  const found = shops.idOf(shop);
  if (found !== undefined) return found;
  if (z.guid().safeParse(shop).success) return asShopId(shop.toLowerCase());
  throw new Refusal('invalid', 'There is no such shop');
}

/** Without what was left empty; `state` as a list however often it came. */
function given(query: unknown): Record<string, unknown> {
  if (typeof query !== 'object' || query === null) return {};
  const filled = Object.entries(query).filter(([, value]) => value !== '');
  return Object.fromEntries(
    filled.map(([name, value]) => [name, name === 'state' ? [value].flat() : value]),
  );
}
