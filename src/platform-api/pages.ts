import type { Page } from './resources.ts';

/**
 * Walks a list from page to page: `pages((query) => client.listTickets(query), { limit: 100 })`.
 *
 * Of a `next` link only the cursor is used. The link itself names a host, and the key must not go
 * where an answer says.
 */
export async function* pages<Query extends object, Item>(
  list: (query: Query & { cursor?: string }) => Promise<Page<Item>>,
  query: Query,
): AsyncGenerator<Page<Item>, void, undefined> {
  const seen = new Set<string>();
  let page = await list(query);
  for (;;) {
    yield page;
    const cursor = cursorOf(page.next);
    // A server that repeats itself must not keep its client for ever.
    if (cursor === undefined || seen.has(cursor)) return;
    seen.add(cursor);
    page = await list({ ...query, cursor });
  }
}

/** The items of all pages, one by one: `for await (const ticket of items(client.ticketPages()))`. */
export async function* items<Item>(
  pages: AsyncIterable<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  for await (const page of pages) yield* page.results;
}

/** The `cursor` of a page link (API §2.6), absolute or relative. */
export function cursorOf(link: string | null | undefined): string | undefined {
  if (!link || !URL.canParse(link, 'http://relative')) return undefined;
  return new URL(link, 'http://relative').searchParams.get('cursor') ?? undefined;
}
