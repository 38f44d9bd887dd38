import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { telnyxShopAccount } from '../../../../../src/channels/sms/providers/telnyx/account.ts';
import type { SmsShop } from '../../../../../src/channels/sms/shop.ts';
import { asShopId } from '../../../../../src/domain/ids.ts';
import type { Entry } from '../../../../../src/spool/entry.ts';
import type { Seen } from '../../../../support/scripted-platform.ts';
import {
  API_KEY,
  inboundPayload,
  PUBLIC_KEY,
  signedHeaders,
  TELNYX_NUMBER,
  telnyxEvent,
  telnyxId,
} from '../../../../support/telnyx-stand-in.ts';
import { postWebhook, type WebhookAnswer } from '../../../../support/twilio-stand-in.ts';
import { waitFor } from '../../../../support/wait-for.ts';
import { type InboundScene, startInboundScene } from '../../inbound-scene.ts';
import { smsShop } from '../../running-door.ts';
import {
  CASES,
  type InboundCase,
  type Payload,
  PICTURE,
  RESOLVED,
  SHORT_CODE,
} from './inbound-cases.ts';

/** A row with what is its own: a person and an id. */
interface Row extends InboundCase {
  readonly number: number;
  readonly person: string;
  readonly id: string;
}

const rows: readonly Row[] = CASES.map((row, index) => ({
  ...row,
  number: index + 1,
  person: `+1415555${String(3000 + index)}`,
  id: telnyxId((index + 1) * 100),
}));

const shopsAt = (apiBaseUrl: string): SmsShop[] => {
  const account = telnyxShopAccount({ apiKey: API_KEY, publicKey: PUBLIC_KEY, apiBaseUrl });
  return [
    { ...smsShop({ numbers: [TELNYX_NUMBER] }), account },
    {
      ...smsShop({ name: 'short', numbers: [SHORT_CODE], optOut: 'none' }),
      shopId: asShopId('22222222-2222-4222-8222-222222222222'),
      account,
    },
  ];
};

let scene: InboundScene;

beforeAll(async () => {
  scene = await startInboundScene(shopsAt, RESOLVED);
  scene.twilio.script('/moved', PICTURE);
});
afterAll(() => scene.close());

const mediaPath = ({ id }: Row, n: number) => `/media/${id}/${n}`;

function bodyOf(row: Row): string {
  if (row.body !== undefined) return row.body;
  const { id, person, media, payload, type } = row;
  const urls = media?.map(({ type: content_type, url }, n) => ({
    url: url ?? scene.twilio.baseUrl + mediaPath(row, n),
    content_type,
    hash_sha256: null,
    size: null,
  }));
  const own = { id, from: { phone_number: person }, ...(urls && { type: 'MMS', media: urls }) };
  return telnyxEvent(inboundPayload({ ...own, ...payload }), type);
}

function send(row: Row): Promise<WebhookAnswer> {
  const { target } = row.spool === 'closed' ? scene.closed : scene.webhook;
  const body = bodyOf(row);
  const headers = row.headers?.(body) ?? signedHeaders(body);
  return postWebhook({
    target: target.replace('/sms/twilio', '/sms/telnyx'),
    ...{ body, headers },
    ...(row.method !== undefined && { method: row.method }),
  });
}

async function allMessages(): Promise<readonly Entry[]> {
  const all = await scene.webhook.store.spool.list({ limit: 1000 });
  return all.filter(({ kind }) => kind === 'message');
}

/** The one entry of a message, once an attempt has come to an end. */
async function attempted(id: string): Promise<Entry> {
  scene.wake();
  return waitFor(
    'an attempt',
    async () => {
      const [entry, ...more] = (await allMessages()).filter(({ remoteId }) => remoteId === id);
      expect(more).toEqual([]);
      const { state, lastAttemptAt = 0 } = entry ?? {};
      const ended = state === 'queued' ? lastAttemptAt > 0 : state !== 'delivering';
      return ended && entry;
    },
    5,
  );
}

/** What the row's person has sent before, and the answers for the row's media. */
async function prepare(row: Row): Promise<void> {
  for (const [n, text] of (row.before ?? []).entries()) {
    const { number, person } = row;
    const earlier = { label: '', number, person, id: telnyxId(number * 100 + n + 1) };
    await send({ ...row, ...earlier, payload: { text } });
    await attempted(earlier.id);
  }
  for (const [n, { answers }] of (row.media ?? []).entries()) {
    if (answers) scene.twilio.script(mediaPath(row, n), ...answers);
  }
}

/** The whole create-message request (API §4.7), timestamp and media ids included. */
const requestOf = ({ person, id }: Row, entry: Entry, payload: Payload) => ({
  contact: payload.contact ?? { phone: person },
  conversation: {
    direction: 'inbound',
    type: 'sms',
    agent_contact: payload.agentContact ?? TELNYX_NUMBER,
  },
  message: {
    content: payload.content ?? 'Where is my order?',
    format: 'TEXT',
    remote_id: id,
    timestamp: payload.timestamp ?? new Date(entry.receivedAt).toISOString(),
    ...(payload.files !== undefined && {
      attachments: payload.files.map((): unknown => expect.stringMatching(/^a{8}-/)),
    }),
  },
});

const callsTo = (seen: readonly Seen[], path: string): Seen[] =>
  seen.filter((each) => each.method === 'POST' && each.path === path);
const bodies = (seen: readonly Seen[]): unknown[] =>
  seen.map(({ body }): unknown => JSON.parse(body));
const eventSchema = z.object({ name: z.string(), contact: z.object({ phone: z.string() }) });

async function check(row: Row, seen: () => readonly Seen[]): Promise<void> {
  const { outcome, id, person } = row;
  if (outcome === 'no entry') return;
  const entry = await attempted(id);
  const messages = () => bodies(callsTo(seen(), '/messages/'));
  if ('delivered' in outcome) {
    expect(entry.state).toBe('delivered');
    expect(messages()).toEqual([requestOf(row, entry, outcome.delivered)]);
    const names = callsTo(seen(), '/media/').map(
      ({ body }) => /filename="([^"]*)"/.exec(body)?.[1],
    );
    expect(names).toEqual(outcome.delivered.files ?? []);
    return;
  }
  expect(messages()).toEqual([]);
  if ('held' in outcome) {
    expect(entry).toMatchObject({ state: 'held', reason: { code: outcome.held } });
    return;
  }
  expect(entry).toMatchObject({ state: 'suppressed', reason: { code: outcome.suppressed } });
  if (outcome.event === undefined) return;
  const event = { name: outcome.event, contact: { phone: person } };
  await waitFor(
    'the event',
    () =>
      bodies(callsTo(seen(), '/events/')).some((each) =>
        isDeepStrictEqual(eventSchema.parse(each), event),
      ),
    5,
  );
}

describe('what Telnyx hands over', () => {
  test('is a table of at least 40 rows, each with a label of its own', () => {
    expect(rows.length).toBeGreaterThanOrEqual(40);
    expect(new Set(rows.map(({ label }) => label)).size).toBe(rows.length);
  });

  test.each(rows)('$label', async (row) => {
    await prepare(row);
    const start = scene.platform.seen.length;
    const before = (await allMessages()).length;
    const answers = await Promise.all(Array.from({ length: row.times ?? 1 }, () => send(row)));
    for (const { status, body } of answers) expect({ status, body }).toEqual(row.answer);
    expect((await allMessages()).length - before).toBe(row.outcome === 'no entry' ? 0 : 1);
    await check(row, () => scene.platform.seen.slice(start));
  });
});
