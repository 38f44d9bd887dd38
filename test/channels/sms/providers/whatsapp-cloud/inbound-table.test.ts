import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { contentOf } from '../../../../../src/channels/sms/normalize/content.ts';
import { readEvent } from '../../../../../src/channels/sms/providers/whatsapp-cloud/event.ts';
import { whatsappTexts } from '../../../../../src/channels/sms/providers/whatsapp-cloud/texts.ts';
import type { Entry } from '../../../../../src/spool/entry.ts';
import { type GraphApi, serveGraph, VERSION } from '../../../../support/graph-api.ts';
import type { Seen } from '../../../../support/scripted-platform.ts';
import { waitFor } from '../../../../support/wait-for.ts';
import {
  ACCESS_TOKEN,
  changeOf,
  contactOf,
  eventOf,
  type Members,
  PHONE_NUMBER_ID,
  postEvent,
  wamid,
  whatsappAccount,
  WHATSAPP_NUMBER,
} from '../../../../support/whatsapp-stand-in.ts';
import { type InboundScene, startInboundScene } from '../../inbound-scene.ts';
import { smsShop } from '../../running-door.ts';
import { CASES, type InboundCase, MEDIUM, type Payload, RESOLVED } from './inbound-cases.ts';

/** A row with what is its own: a person and an id. */
interface Row extends InboundCase {
  readonly person: string;
  readonly id: string;
  /** The id of its medium: the same number of digits for each. */
  readonly medium: string;
}

const rows: readonly Row[] = CASES.map((row, index) => ({
  ...row,
  person: `1415555${String(3000 + index)}`,
  id: wamid(index + 1),
  medium: String(BigInt(MEDIUM) + BigInt(index)),
}));

const shopsAt = (baseUrl: string) => {
  const account = whatsappAccount({ apiBaseUrl: baseUrl + VERSION });
  return [{ ...smsShop({ numbers: [WHATSAPP_NUMBER] }), services: [PHONE_NUMBER_ID], account }];
};

let scene: InboundScene;
let graph: GraphApi;

beforeAll(async () => {
  scene = await startInboundScene(shopsAt, RESOLVED);
  graph = serveGraph(scene.twilio);
});
afterAll(() => scene.close());

/** What a row says of the medium, with the row's own id. */
const own = (row: Row, text: string) => text.replaceAll(MEDIUM, row.medium);

function bodyOf(row: Row): string {
  const { person, id, sender, message } = row;
  const base: Members = { from: person, id, timestamp: '1749416383', ...sender?.message };
  const contacts = sender?.contacts ?? [contactOf(person)];
  return own(row, eventOf(changeOf({ contacts, messages: [{ ...base, ...message }] })));
}

/** The entry, once an attempt has come to an end. */
async function attempted(id: string): Promise<Entry> {
  scene.wake();
  return waitFor(
    'an attempt',
    async () => {
      const all = await scene.webhook.store.spool.list({ limit: 1000 });
      const [entry, ...more] = all.filter(
        ({ kind, remoteId }) => kind === 'message' && remoteId === id,
      );
      expect(more).toEqual([]);
      const { state, lastAttemptAt = 0 } = entry ?? {};
      const ended = state === 'queued' ? lastAttemptAt > 0 : state !== 'delivering';
      return ended && entry;
    },
    10,
  );
}

/** The whole create-message request (API §4.7), timestamp and media ids included. */
const requestOf = (row: Row, entry: Entry, { content, contact, files, timestamp }: Payload) => ({
  contact: contact ?? { phone: `+${row.person}`, name: 'Sheena Nelson' },
  conversation: { direction: 'inbound', type: 'sms', agent_contact: WHATSAPP_NUMBER },
  message: {
    content: own(row, content),
    format: 'TEXT',
    remote_id: row.id,
    timestamp: timestamp ?? new Date(entry.receivedAt).toISOString(),
    ...(files !== undefined && {
      attachments: files.map((): unknown => expect.stringMatching(/^a{8}-/)),
    }),
  },
});

/** What a release of the entry would submit. */
function words(row: Row): string {
  const [content] = readEvent(Buffer.from(bodyOf(row)));
  if (content?.kind !== 'message') throw new Error('not a message');
  const { raw, to } = content.text;
  return contentOf(whatsappTexts.read({ to }, raw));
}

const callsTo = (seen: readonly Seen[], path: string): Seen[] =>
  seen.filter((each) => each.method === 'POST' && each.path === path);

describe('what Meta hands over', () => {
  test('is a table of at least 40 rows, each with a label of its own', () => {
    expect(rows.length).toBeGreaterThanOrEqual(40);
    expect(new Set(rows.map(({ label }) => label)).size).toBe(rows.length);
  });

  test.each(rows)('$label', async (row) => {
    const { link, answers = [] } = row.media ?? {};
    if (row.media !== undefined && link !== null) graph.links.set(row.medium, link);
    scene.twilio.script(`/media/${row.medium}`, ...answers);
    const start = scene.platform.seen.length;
    const answer = await postEvent(new URL(scene.webhook.target).origin, bodyOf(row));
    expect(answer).toMatchObject({ status: 200, body: '{}' });
    const entry = await attempted(row.id);
    const seen = scene.platform.seen.slice(start);
    const messages = callsTo(seen, '/messages/').map(({ body }): unknown => JSON.parse(body));
    const { outcome } = row;
    if ('delivered' in outcome) {
      expect(messages).toEqual([requestOf(row, entry, outcome.delivered)]);
      expect(entry.state).toBe('delivered');
      const files = callsTo(seen, '/media/').map(
        ({ body }) => /filename="([^"]*)"/.exec(body)?.[1],
      );
      expect(files).toEqual(outcome.delivered.files ?? []);
      return;
    }
    expect(messages).toEqual([]);
    if ('held' in outcome) {
      expect(entry).toMatchObject({ state: 'held', reason: { code: outcome.held } });
      return;
    }
    expect(entry).toMatchObject({ state: 'suppressed', reason: { code: outcome.suppressed } });
    expect(words(row)).toBe(outcome.words);
  });

  test('media are asked for with the token, at the API and at their links', () => {
    const ours = scene.twilio.requests.filter(({ path }) => /^\/(v25|media)/.test(path));
    expect(ours.length).toBeGreaterThan(10);
    for (const { authorization } of ours) expect(authorization).toBe(`Bearer ${ACCESS_TOKEN}`);
  });
});
