import type { Channel } from '../../contract.ts';
import { api } from '../api.ts';

const TRIES = 20;
const PAUSE_MS = 500;
const NEWEST = 5;

/**
 * Where a test message can be looked at: the entry that it became, or, when the search has not found
 * it within 10 s, the list.
 * @param sentAs the id that the test's sender gave it
 */
export async function whereIs(shop: string, channel: Channel, sentAs: string): Promise<string> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const id =
      (await bySearch(shop, channel, sentAs)) ?? (await amongNewest(shop, channel, sentAs));
    if (id !== undefined) return `/messages/${encodeURIComponent(id)}`;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return `/messages?shop=${encodeURIComponent(shop)}&channel=${channel}`;
}

async function bySearch(shop: string, channel: Channel, text: string): Promise<string | undefined> {
  const { entries } = await api.entries({ text, shop, channel, limit: 1 });
  return entries[0]?.id;
}

/** The id of a chat's line is the end of the remote id, which the search finds by its beginning. */
async function amongNewest(
  shop: string,
  channel: Channel,
  sentAs: string,
): Promise<string | undefined> {
  const { entries } = await api.entries({ shop, channel, limit: NEWEST });
  for (const { id } of entries) {
    const { remoteId } = await api.entry(id);
    if (remoteId.endsWith(sentAs)) return id;
  }
  return undefined;
}
