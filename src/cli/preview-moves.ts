import type { Channel } from '../domain/channel.ts';
import type { EntryId, ShopId } from '../domain/ids.ts';
import { counted } from '../runtime/amounts.ts';
import { document } from './json.ts';
import { nothingFound } from './nothing-found.ts';
import type { OpenSpool } from './open-spool.ts';
import type { Filter } from './queue-filter.ts';
import { type Move, type Moved, refusalOf } from './queue-moves.ts';

/** A shop and channel is counted up to this number. */
const MAX_COUNTED = 1_000_000;

interface Place {
  readonly shopId: ShopId;
  readonly channel: Channel;
}

/**
 * The output of a move with `--all --dry-run`: the number of entries that match, by shop and channel.
 * Entries whose raw message was swept match too, although they cannot be moved.
 * @param words the filter in words
 */
export async function previewByFilter(
  open: OpenSpool,
  move: Move,
  filter: Filter,
  { json, words }: { readonly json: true | undefined; readonly words: string },
): Promise<string> {
  const matches = await countByPlace(open, filter);
  const total = matches.reduce((sum, { count }) => sum + count, 0);
  if (json) return document({ dryRun: true, total, matches });
  if (total === 0) return nothingFound(open.index, filter);
  const lines = matches.map(
    ({ count, shop, channel }) => `${String(count).padStart(7)}  ${shop}  ${channel}\n`,
  );
  return `${lines.join('')}${counted(total, 'entry', 'entries')} would be ${move.done}${move.provided ?? ''} (${words}).\n`;
}

async function countByPlace({ spool, index, shopName }: OpenSpool, filter: Filter) {
  // No move is for a delivered entry, which these counts leave out.
  const places = new Map<string, Place>();
  for (const { shopId, channel } of await spool.counts()) {
    const isMeant = (filter.shopId ?? shopId) === shopId && (filter.channel ?? channel) === channel;
    if (isMeant) places.set(`${shopId} ${channel}`, { shopId, channel });
  }
  const matches = [];
  for (const place of places.values()) {
    const count = await index.count({ ...filter, ...place }, MAX_COUNTED);
    if (count > 0) matches.push({ shop: shopName(place.shopId), ...place, count });
  }
  return matches.toSorted((a, b) => b.count - a.count);
}

/** What a move by ids would do to one of them. */
export async function previewMove(
  { spool }: Pick<OpenSpool, 'spool'>,
  move: Move,
  id: EntryId,
): Promise<Pick<Moved, 'id' | 'ok' | 'result'>> {
  const refusal = refusalOf(move, await spool.get(id));
  if (refusal !== undefined) return { id, ok: false, result: refusal };
  return (await spool.raw(id)) === undefined
    ? { id, ok: false, result: 'cannot be changed: it was swept' }
    : { id, ok: true, result: `would be ${move.done}${move.provided ?? ''}` };
}
