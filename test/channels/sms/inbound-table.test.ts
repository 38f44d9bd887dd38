import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Entry } from '../../../src/spool/entry.ts';
import { ends } from '../../support/ends.ts';
import { startGateway } from '../../support/running-gateway.ts';
import { ScriptedPlatform, type Seen } from '../../support/scripted-platform.ts';
import { sendSms } from '../../support/sms-sender.ts';
import { tempDir } from '../../support/temp-dir.ts';
import {
  bodySha256,
  inboundForm,
  mediaPath,
  mediaSid,
  messageSid,
  OUR_NUMBER,
  type Pairs,
  postWebhook,
  twilioSignature,
  AUTH_TOKEN,
  type WebhookAnswer,
} from '../../support/twilio-stand-in.ts';
import { waitFor } from '../../support/wait-for.ts';
import {
  CASES,
  type Changes,
  type InboundCase,
  type Medium,
  type Payload,
} from './inbound-cases.ts';
import { type InboundScene, startInboundScene } from './inbound-scene.ts';
import { WEBHOOK_URL } from './running-door.ts';

/** A row with what is its own: a person, SIDs, and its place in the platform's log. */
interface Row extends InboundCase {
  readonly number: number;
  readonly person: string;
  readonly sid: string;
}

const rows: readonly Row[] = CASES.map((row, index) => {
  const number = index + 1;
  const ownSid = messageSid(number * 100, row.media === undefined ? 'SM' : 'MM');
  const given = row.form?.['MessageSid'];
  return {
    ...row,
    number,
    person: `+1415555${String(2000 + number)}`,
    sid: typeof given === 'string' ? given : ownSid,
  };
});

let scene: InboundScene;

beforeAll(async () => {
  scene = await startInboundScene();
});
afterAll(() => scene.close());

const formOf = ({ person, sid, form, media = [] }: Row): Pairs =>
  inboundForm({ MessageSid: sid, From: person, ...mediaFields(sid, media), ...form });

function mediaFields(sid: string, media: readonly Medium[]): Changes {
  const fields = media.flatMap(({ type, url }, n) => [
    [`MediaContentType${n}`, type] as const,
    [`MediaUrl${n}`, url ?? `https://api.twilio.com${mediaPath(sid, mediaSid(n + 1))}`] as const,
  ]);
  return { NumMedia: String(media.length), ...Object.fromEntries(fields) };
}

function send(row: Row): Promise<WebhookAnswer> {
  const webhook = row.spool === 'closed' ? scene.closed : scene.webhook;
  if (row.request !== undefined) {
    const { method = 'POST', type = 'application/x-www-form-urlencoded', body = '' } = row.request;
    const headers = { 'Content-Type': type };
    return postWebhook({ target: webhook.target, method, body, headers, signature: 'x' });
  }
  if (row.json !== undefined) return sendJson(row, row.json.hashed);
  const { signature } = row;
  return webhook.send(formOf(row), { ...(signature !== undefined && { signature }) });
}

function sendJson(row: Row, hashed: NonNullable<Row['json']>['hashed']): Promise<WebhookAnswer> {
  const body = JSON.stringify(Object.fromEntries(formOf(row)));
  const text = hashed === 'the body' ? body : `${body} `;
  const query = hashed === 'nothing' ? '' : `?bodySHA256=${bodySha256(text)}`;
  return postWebhook({
    target: scene.webhook.target + query,
    body,
    headers: { 'Content-Type': 'application/json' },
    signature: twilioSignature(AUTH_TOKEN, WEBHOOK_URL + query, []),
  });
}

async function allMessages(): Promise<readonly Entry[]> {
  const all = await scene.webhook.store.spool.list({ limit: 1000 });
  return all.filter(({ kind }) => kind === 'message');
}

async function entriesOf(sid: string): Promise<readonly Entry[]> {
  return (await allMessages()).filter(({ remoteId }) => remoteId === sid);
}

/** The one entry of a message, once an attempt has come to an end. */
async function attempted(sid: string): Promise<Entry> {
  scene.wake();
  return waitFor(
    'an attempt',
    async () => {
      const [entry, ...more] = await entriesOf(sid);
      expect(more).toEqual([]);
      const { state, lastAttemptAt = 0 } = entry ?? {};
      const ended = state === 'queued' ? lastAttemptAt > 0 : state !== 'delivering';
      return ended && entry;
    },
    5,
  );
}

/** What the row's person has sent before. */
async function prepare({ before = [], number, person, form, media = [], sid }: Row): Promise<void> {
  for (const [n, Body] of before.entries()) {
    const earlier = messageSid(number * 100 + n + 1);
    const To = form?.['To'] ?? OUR_NUMBER;
    await scene.webhook.send(inboundForm({ MessageSid: earlier, From: person, To, Body }));
    await attempted(earlier);
  }
  for (const [n, { answers }] of media.entries()) {
    scene.twilio.script(mediaPath(sid, mediaSid(n + 1)), ...answers);
  }
}

/** The whole create-message request (API §4.7), timestamp and media ids included. */
const requestOf = ({ person, sid }: Row, entry: Entry, payload: Payload) => ({
  contact: payload.contact ?? { phone: person },
  conversation: {
    direction: 'inbound',
    type: 'sms',
    agent_contact: payload.agentContact ?? OUR_NUMBER,
  },
  message: {
    content: payload.content ?? 'Where is my order?',
    format: 'TEXT',
    remote_id: sid,
    timestamp: new Date(entry.receivedAt).toISOString(),
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
  const { outcome, sid, person } = row;
  if (outcome === 'no entry') return;
  const entry = await attempted(sid);
  const messages = () => bodies(callsTo(seen(), '/messages/'));
  if ('delivered' in outcome) {
    expect(entry.state).toBe('delivered');
    expect(messages()).toEqual([requestOf(row, entry, outcome.delivered)]);
    const names = callsTo(seen(), '/media/').map(
      ({ body }) => /filename="([^"]*)"/.exec(body)?.[1],
    );
    expect(names).toEqual(outcome.delivered.files ?? []);
    await told(outcome.delivered.event, person, seen);
    return;
  }
  expect(messages()).toEqual([]);
  if ('held' in outcome) {
    expect(entry).toMatchObject({ state: 'held', reason: { code: outcome.held } });
    return;
  }
  expect(entry).toMatchObject({ state: 'suppressed', reason: { code: outcome.suppressed } });
  await told(outcome.event, person, seen);
}

async function told(
  name: string | undefined,
  person: string,
  seen: () => readonly Seen[],
): Promise<void> {
  if (name === undefined) return;
  const event = { name, contact: { phone: person } };
  // Those of the texts before it may come as late as this one's.
  const events = () =>
    bodies(callsTo(seen(), '/events/')).filter((each) =>
      isDeepStrictEqual(eventSchema.parse(each), event),
    );
  await waitFor('the event', () => events().length > 0, 5);
  expect(events()).toHaveLength(1);
}

describe('what Twilio hands over', () => {
  test('is a table of at least 45 rows, each with a label of its own', () => {
    expect(rows.length).toBeGreaterThanOrEqual(45);
    expect(new Set(rows.map(({ label }) => label)).size).toBe(rows.length);
  });

  test.each(rows)('$label', async (row) => {
    await prepare(row);
    const start = scene.platform.seen.length;
    const before = (await allMessages()).length;
    const answers = await Promise.all(Array.from({ length: row.times ?? 1 }, () => send(row)));
    for (const answer of answers) {
      const { status, body, headers } = answer;
      expect({ status, body }).toEqual({ status: row.answer.status, body: row.answer.body });
      expect(headers).toMatchObject(row.answer.headers ?? {});
    }
    expect((await allMessages()).length - before).toBe(row.outcome === 'no entry' ? 0 : 1);
    await check(row, () => scene.platform.seen.slice(start));
  });

  test('two first texts of one person at once make one conversation', async () => {
    const dir = tempDir();
    ends(() => dir.remove());
    const platform = new ScriptedPlatform();
    ends(() => platform.stop());
    const platformUrl = await platform.start();
    const gateway = await startGateway({ dataDir: dir.path, platformUrl });
    ends(() => gateway.stop());
    const answers = await Promise.all(
      [1, 2].map((n) => sendSms(gateway.httpUrl, { MessageSid: messageSid(n), Body: String(n) })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    await waitFor('both messages', () => platform.messages.length === 2, 5);
    const [first, second] = platform.messages;
    expect(first?.conversation).not.toHaveProperty('id');
    // The platform's first conversation, which its first answer named.
    expect(second?.conversation.id).toBe('cccccccc-0000-4000-8000-000000000001');
  });
});
