import { z } from 'zod';
import type {
  ListedShop,
  ListedText,
  ListOptions,
  MessageLists,
  ProviderLists,
} from '../../provider.ts';
import { BadParameter } from '../../webhook-request.ts';
import { pacedCalls } from '../paced-calls.ts';
import { ProviderFailed } from '../requests.ts';
import { ACCOUNT_ID, type TelnyxAccount, type TelnyxShopAccount } from './account.ts';
import { callTelnyx, type TelnyxCall } from './calls.ts';
import { readMessage } from './event.ts';
import { receivedText } from './texts.ts';

/**
 * What Telnyx received and sent. Its API has no list of messages, but it searches the detail
 * records, which have no text (Telnyx, "Search detail records"), and retrieves a message of the
 * last 10 days by its id ("Retrieve a message").
 */

const PAGE_SIZE = '50';
const TIMEOUT_MS = 30_000;
const DAY_MS = 24 * 60 * 60_000;

const recordSchema = z.object({
  uuid: z.string(),
  cld: z.string().catch(''),
  created_at: z.coerce.date(),
});
type DetailRecord = z.output<typeof recordSchema>;
const pageSchema = z.object({
  data: z.array(z.unknown()),
  meta: z.object({ total_pages: z.number() }),
});

type Call = (call: TelnyxCall) => Promise<object>;

/**
 * Pages of records, newest first, that were created in this time. The search knows days only, so
 * the rest of the first and of the last day are left out here.
 */
async function* recordPages(
  call: Call,
  filter: Readonly<Record<string, string>>,
  from: number,
  to = Infinity,
): AsyncGenerator<readonly DetailRecord[]> {
  const until = to === Infinity ? undefined : dayOf(to + DAY_MS);
  const params = {
    'filter[record_type]': 'messaging',
    'filter[created_at][gte]': dayOf(from),
    ...(until !== undefined && { 'filter[created_at][lt]': until }),
    ...filter,
    sort: '-created_at',
    'page[size]': PAGE_SIZE,
  };
  for (let number = 1, pages = 1; number <= pages; number += 1) {
    const answer = await call({
      ...{ method: 'GET', path: '/detail_records' },
      params: { ...params, 'page[number]': String(number) },
    });
    const { data, meta } = parsed(pageSchema, answer);
    const records = data.flatMap((each) => recordSchema.safeParse(each).data ?? []);
    yield records.filter(({ created_at: at }) => at.getTime() >= from && at.getTime() <= to);
    if (records.some(({ created_at: at }) => at.getTime() < from)) return;
    pages = meta.total_pages;
  }
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

const messageSchema = z.object({ data: z.record(z.string(), z.unknown()) });

const retrieve = async (call: Call, id: string): Promise<Readonly<Record<string, unknown>>> =>
  parsed(messageSchema, await call({ method: 'GET', path: `/messages/${encodeURIComponent(id)}` }))
    .data;

/** @throws {ProviderFailed} it is not what the API documents */
function parsed<T>(schema: z.ZodType<T>, answer: object): T {
  const { data } = schema.safeParse(answer);
  if (data === undefined) throw new ProviderFailed('later', 'unreadable', { code: 'unreadable' });
  return data;
}

export const telnyxLists: ProviderLists<TelnyxShopAccount> = {
  // Telnyx tries each of two URLs three times, and waits 2 s for each.
  inFlightMs: 60_000,
  accountsOf: (shops) => {
    const byKey = new Map<string, ListedShop<TelnyxShopAccount>[]>();
    for (const shop of shops) {
      const { apiKey } = shop.account;
      byKey.set(apiKey, [...(byKey.get(apiKey) ?? []), shop]);
    }
    return [...byKey.values()].flatMap((ofKey) => {
      const [number] = ofKey.flatMap(({ numbers }) => numbers).toSorted();
      const account = ofKey[0]?.account;
      if (account === undefined || number === undefined) return [];
      // By a number, because a key is a secret and is replaced at times.
      const name = `${ACCOUNT_ID} ${number}`;
      const connect = (options: ListOptions) => Promise.resolve(listsOf(account, options));
      return [{ id: ACCOUNT_ID, name, addresses: undefined, connect }];
    });
  },
};

function listsOf(account: TelnyxAccount, options: ListOptions): MessageLists {
  const { clock, signal } = options;
  let clockAheadMs = 0;
  const onDate = (date: string | undefined): void => {
    const theirs = Date.parse(date ?? '');
    if (!Number.isNaN(theirs)) clockAheadMs = Math.max(clockAheadMs, clock() - theirs);
  };
  const call = pacedCalls(
    (each: TelnyxCall) =>
      callTelnyx(account, each, { timeoutMs: TIMEOUT_MS, clock, signal, onDate }),
    options,
  );
  return {
    get clockAheadMs() {
      return clockAheadMs;
    },
    async *pages(_to, { from, to }) {
      const inbound = { 'filter[direction]': 'inbound' };
      for await (const page of recordPages(call, inbound, from, to)) yield page.map(asListed);
    },
    receive: async ({ id }) => {
      const payload = await retrieve(call, id).catch((error: unknown) => {
        if (!(error instanceof ProviderFailed) || error.kind !== 'never') throw error;
        throw new BadParameter('id', 'The message can no longer be retrieved');
      });
      const event = { data: { event_type: 'message.received', payload } };
      return receivedText(readMessage(payload), Buffer.from(JSON.stringify(event)));
    },
  };
}

const asListed = ({ uuid, cld, created_at: at }: DetailRecord): ListedText => ({
  id: uuid,
  account: ACCOUNT_ID,
  service: undefined,
  to: cld.startsWith('+') || cld.length < 9 ? cld : `+${cld}`,
  sentAt: at.getTime(),
});

/** Clocks differ, so our messages are looked up from this much earlier. */
const CLOCKS_DIFFER_MS = 60_000;
const MAX_LOOKED_AT = 50;

const outgoingSchema = z.object({
  text: z.string().catch(''),
  to: z.array(z.object({ status: z.string().catch('') })).catch([]),
});

/** The ids of messages with this text that have not failed. @throws {ProviderFailed} */
export async function findOutgoing(
  account: TelnyxAccount,
  text: { readonly from: string; readonly to: string; readonly text: string },
  since: Date,
  timeoutMs: number,
): Promise<readonly string[]> {
  const call: Call = (each) => callTelnyx(account, each, { timeoutMs });
  const filter = {
    'filter[direction]': 'outbound',
    'filter[cld][contains]': text.to.replace(/^\+/, ''),
  };
  const found: string[] = [];
  let lookedAt = 0;
  for await (const page of recordPages(call, filter, since.getTime() - CLOCKS_DIFFER_MS)) {
    for (const { uuid } of page) {
      lookedAt += 1;
      if (lookedAt > MAX_LOOKED_AT) return found;
      const message = outgoingSchema.parse(await retrieve(call, uuid));
      const isLost = message.to.some(({ status }) => status.endsWith('_failed'));
      if (message.text === text.text && !isLost) found.push(uuid);
    }
  }
  return found;
}
