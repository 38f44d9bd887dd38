import express, { type Request, type Router } from 'express';
import { z } from 'zod';
import type { PlatformClient } from '../../platform-api/client.ts';
import { PlatformError } from '../../platform-api/errors.ts';
import type { Conversation, Page } from '../../platform-api/resources.ts';
import {
  listContactsQuerySchema,
  listMessagesQuerySchema,
  listTicketsQuerySchema,
} from '../../platform-api/schemas.ts';
import { checked, Refusal } from './refusal.ts';

/** Short, since an operator waits for the response. */
const DEADLINE_MS = 15_000;
/** A platform may close an idle connection just when a request is sent on it. */
const RETRY = { retries: 2, minDelayMs: 150, maxRetryAfterMs: 2000 };
const MAX_CONVERSATIONS = 50;
const AT_ONCE = 8;

export type ClientOf = (shop: string) => PlatformClient | undefined;
/** The ids of the platform's conversations with a person, the newest first: those of the messages in the store. */
export type ConversationsWith = (shop: string, person: string) => Promise<readonly string[]>;

/** The platform's ids are UUIDs; in any case one path segment. */
const idSchema = z.string().regex(/^[\w-]{1,100}$/);
const idsSchema = z
  .string()
  .max(4000)
  .transform((text) => text.split(',').map((id) => id.trim()))
  .pipe(z.array(idSchema).max(MAX_CONVERSATIONS));
/** An email address, a phone number, or another word of a message's sender. */
const person = z.string().min(1).max(320).optional().meta({
  description:
    'Those with this person, an email address or a phone number, among the 200 newest messages that have it in sender, recipient or subject.',
});
export const ticketsQuerySchema = z.object({ ...listTicketsQuerySchema.shape, person });
const idsDocumented = {
  type: 'array',
  items: { type: 'string' },
  description: 'These conversations, separated by commas.',
} as const;
export const conversationsQuerySchema = z.object({
  person,
  id: idsSchema.optional().meta(idsDocumented),
  id__in: idsSchema.optional().meta(idsDocumented),
  ...listMessagesQuerySchema.pick({ cursor: true, limit: true }).shape,
});

/**
 * `GET /platform/:shop/...`: the shop's resources at the platform, through the gateway's client.
 * The filters are those of the API (§4). The API does not list conversations; these are the ones of
 * the newest messages, those requested by `id`, or those with a `person`. Tickets of a `person` are those of
 * the same conversations.
 */
export function platformRoutes(clientOf: ClientOf, conversationsWith: ConversationsWith): Router {
  const router = express.Router();
  const list = <Query>(
    resources: string,
    schema: z.ZodType<Query>,
    read: (
      client: PlatformClient,
      query: Query,
      signal: AbortSignal,
      shop: string,
    ) => Promise<object>,
  ) =>
    router.get(`/platform/:shop/${resources}`, async (req, res) => {
      const query = checked(schema, req.query);
      const { shop } = req.params;
      res.json(
        await fromPlatform(req, clientOf, (client, signal) => read(client, query, signal, shop)),
      );
    });
  const one = (
    resources: string,
    read: (client: PlatformClient, id: string, signal: AbortSignal) => Promise<object>,
  ) =>
    router.get(`/platform/:shop/${resources}/:id`, async (req, res) => {
      const id = checked(idSchema, req.params['id']);
      res.json(await fromPlatform(req, clientOf, (client, signal) => read(client, id, signal)));
    });
  list('tickets', ticketsQuerySchema, async (client, { person: whose, ...query }, signal, shop) => {
    if (whose === undefined) return client.listTickets(query, signal);
    const ids = (await conversationsWith(shop, whose)).slice(0, MAX_CONVERSATIONS);
    if (ids.length === 0) return NOTHING;
    return client.listTickets({ ...query, conversation_id__in: ids }, signal);
  });
  one('tickets', (client, id, signal) => client.getTicket(id, signal));
  list('contacts', listContactsQuerySchema, (client, query, signal) =>
    client.listContacts(query, signal),
  );
  one('contacts', (client, id, signal) => client.getContact(id, signal));
  list('messages', listMessagesQuerySchema, (client, query, signal) =>
    client.listMessages(query, signal),
  );
  one('messages', (client, id, signal) => client.getMessage(id, signal));
  list('conversations', conversationsQuerySchema, async (client, query, signal, shop) => {
    const { person: whose } = query;
    if (whose === undefined) return conversations(client, query, signal);
    const ids = (await conversationsWith(shop, whose)).slice(0, MAX_CONVERSATIONS);
    return { ...NOTHING, results: await fetchConversations(client, ids, signal) };
  });
  one('conversations', (client, id, signal) => client.getConversation(id, signal));
  return router;
}

const NOTHING = { results: [], next: null, previous: null };

async function conversations(
  client: PlatformClient,
  { id, id__in, ...page }: Omit<z.output<typeof conversationsQuerySchema>, 'person'>,
  signal: AbortSignal,
): Promise<Page<Conversation>> {
  const wanted = [...(id ?? []), ...(id__in ?? [])];
  if (wanted.length > 0) return { results: await fetchConversations(client, wanted, signal) };
  const limit = Math.min(page.limit ?? MAX_CONVERSATIONS, MAX_CONVERSATIONS);
  const { results, next, previous } = await client.listMessages({ ...page, limit }, signal);
  const ids = results.flatMap(({ conversation_id }) => conversation_id ?? []);
  return { results: await fetchConversations(client, [...new Set(ids)], signal), next, previous };
}

/** In the order of the ids, without missing ones. */
async function fetchConversations(
  client: PlatformClient,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<Conversation[]> {
  const found: Conversation[] = [];
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const some = await Promise.all(
      ids.slice(from, from + AT_ONCE).map(async (id) => {
        try {
          return [await client.getConversation(id, signal)];
        } catch (error) {
          if (error instanceof PlatformError && error.status === 404) return [];
          throw error;
        }
      }),
    );
    found.push(...some.flat());
  }
  return found;
}

/** @throws {Refusal} the shop is unknown, or the platform refused or failed */
async function fromPlatform<Found>(
  req: Request,
  clientOf: ClientOf,
  request: (client: PlatformClient, signal: AbortSignal) => Promise<Found>,
): Promise<Found> {
  const { shop } = req.params;
  const client = clientOf(typeof shop === 'string' ? shop : '');
  if (client === undefined) throw new Refusal('not_found', 'Shop not found');
  const gone = new AbortController();
  req.res?.once('close', () => gone.abort());
  try {
    const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(DEADLINE_MS)]);
    return await request(client.retrying(RETRY), signal);
  } catch (error) {
    if (error instanceof PlatformError) throw refusalOf(error);
    throw error;
  }
}

function refusalOf(error: PlatformError): Refusal {
  const { code, status, retryAfterMs, problem } = error;
  if (code === 'invalid') return new Refusal('invalid', 'The id is not valid');
  if (status === 404) return new Refusal('not_found', 'Not found at the platform');
  const said = status === undefined || code !== 'http' ? `no response (${code})` : String(status);
  const why = status === 400 ? `: ${(problem?.message ?? 'no reason given').slice(0, 200)}` : '';
  const retryAfter =
    retryAfterMs === undefined ? {} : { retryAfter: Math.ceil(retryAfterMs / 1000) };
  const message = `Platform error: ${said}${why}`;
  return new Refusal('unavailable', message, { status: 502, cause: error, ...retryAfter });
}
