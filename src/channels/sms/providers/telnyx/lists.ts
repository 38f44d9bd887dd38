import { z } from 'zod';
import type { ListedText, ListOptions, MessageLists, ProviderLists } from '../../provider.ts';
import { BadParameter } from '../../webhook-request.ts';
import { pacedCalls } from '../paced-calls.ts';
import { ProviderFailed, readAnswer } from '../requests.ts';
import { ACCOUNT_ID, type TelnyxAccount, type TelnyxShopAccount } from './account.ts';
import { callTelnyx, type TelnyxCall } from './calls.ts';
import { party, readMessage } from './event.ts';
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
 * the rest of the first and of the last day are left out here, and pages with nothing else.
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
    const { data, meta } = readAnswer(pageSchema, answer);
    const records = data.flatMap((each) => recordSchema.safeParse(each).data ?? []);
    const within = records.filter(
      ({ created_at: at }) => at.getTime() >= from && at.getTime() <= to,
    );
    if (within.length > 0) yield within;
    if (records.some(({ created_at: at }) => at.getTime() < from)) return;
    pages = meta.total_pages;
  }
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

const messageSchema = z.object({ data: z.record(z.string(), z.unknown()) });

/** The payload of a message; undefined if Telnyx has it no longer. @throws {ProviderFailed} */
async function retrieve(
  call: Call,
  id: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const path = `/messages/${encodeURIComponent(id)}`;
  try {
    return readAnswer(messageSchema, await call({ method: 'GET', path })).data;
  } catch (error) {
    if (error instanceof ProviderFailed && error.kind === 'never') return undefined;
    throw error;
  }
}

export const telnyxLists: ProviderLists<TelnyxShopAccount> = {
  // Telnyx tries each of two URLs three times, and waits 2 s for each.
  inFlightMs: 60_000,
  // 20,000 records: at four pages a second, less than two minutes.
  maxPages: 400,
  accountsOf: (shops) => {
    const byPublicKey = new Map(shops.map(({ account }) => [account.publicKey, account]));
    return [...byPublicKey].map(([publicKey, account]) => ({
      id: ACCOUNT_ID,
      // The public key is no secret, and stays when numbers are added and API keys are replaced.
      name: `${ACCOUNT_ID} ${publicKey}`,
      addresses: undefined,
      connect: (options) => Promise.resolve(listsOf(account, options)),
    }));
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
      const payload = await retrieve(call, id);
      if (payload === undefined) {
        throw new BadParameter('id', 'The message can no longer be retrieved');
      }
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
  from: party,
  to: z.array(z.object({ phone_number: z.string(), status: z.string().catch('') })),
  text: z.string().optional().catch(undefined),
  /** Over WhatsApp. */
  body: z
    .object({ text: z.object({ body: z.string() }) })
    .optional()
    .catch(undefined),
});

interface OutgoingMessage {
  readonly from: string;
  readonly to: string;
  readonly text: string;
}

/**
 * The ids of messages with this text between these two numbers that have not failed. The search
 * also finds longer numbers, so the messages themselves are compared.
 * @throws {ProviderFailed}
 */
export async function findOutgoing(
  account: TelnyxAccount,
  text: OutgoingMessage,
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
      if (isSent(await retrieve(call, uuid), text)) found.push(uuid);
    }
  }
  return found;
}

/** Whether the payload is this message, and it did not fail. */
function isSent(payload: unknown, { from, to, text }: OutgoingMessage): boolean {
  const message = outgoingSchema.safeParse(payload).data;
  return (
    message?.from === from &&
    (message.text ?? message.body?.text.body) === text &&
    message.to.some((each) => each.phone_number === to && !each.status.endsWith('_failed'))
  );
}
