import { describe, expect, test } from '@jest/globals';
import { chatArrival } from '../../../src/channels/chat/receive.ts';
import { createChatNormalizer } from '../../../src/channels/chat/normalize.ts';
import { AttachmentUnavailable, type Normalized } from '../../../src/intake/normalizer.ts';
import { createMessageRequestSchema } from '../../../src/platform-api/schemas.ts';
import { BlobFiles } from '../../../src/spool/blobs.ts';
import type { UploadRecord, VisitorRecord } from '../../../src/spool/chat-store.ts';
import { type Claimed, WAITS_FOR } from '../../../src/spool/entry.ts';
import { asBlobName, asEntryId, asVisitorId } from '../../../src/domain/ids.ts';
import { SHOP } from '../../support/entries.ts';
import { tempDir } from '../../support/temp-dir.ts';

const VISITOR: VisitorRecord = {
  id: asVisitorId('7f3a0000000000000000000000000000'),
  shopId: SHOP,
  conversation: 2,
  lane: '7f3a0000000000000000000000000000/2',
  lastSeq: 0,
  seenSeq: 0,
  lastRev: 0,
  logouts: 0,
  createdAt: 0,
};
const AT = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

function claim(
  visitor: Partial<VisitorRecord>,
  text: string,
  uploads: readonly UploadRecord[] = [],
  network?: string,
): Claimed {
  const { raw, remoteId, meta, channel } = chatArrival(
    SHOP,
    { ...VISITOR, ...visitor },
    {
      ...{ id: '0b6d6a4e-0000-4000-8000-000000000000', text, uploads, receivedAt: AT },
      ...(network !== undefined && { network }),
    },
  );
  const id = asEntryId('entry');
  return {
    raw,
    lease: { id, generation: 1 },
    media: new Map(),
    released: false,
    isUnended: false,
    notes: {},
    entry: {
      ...{
        id,
        kind: 'message',
        shopId: SHOP,
        channel,
        lane: VISITOR.lane,
        remoteId,
        meta,
        receivedAt: AT,
      },
      ...{ state: 'delivering', attempts: 0, failingMs: 0, lastAttemptAt: 0, nextAttemptAt: 0 },
      ...{ failures: 0, waitsFor: WAITS_FOR.time, detached: false, rawSize: 0 },
    },
  };
}

async function normalize(claimed: Claimed, trusted = false): Promise<Normalized> {
  const temp = tempDir();
  try {
    const blobs = new BlobFiles({ dir: temp.path, reserveBytes: 0 });
    const normalizer = createChatNormalizer({ blobs, trustUnverifiedEmail: () => trusted });
    return await normalizer(claimed, AbortSignal.timeout(60_000));
  } finally {
    temp.remove();
  }
}

describe('the contact', () => {
  const email = 'ada@customer.example';
  test.each<[string, Partial<VisitorRecord>, boolean, object]>([
    ['is named by the visitor’s number', {}, false, { name: 'Visitor 7F3A' }],
    ['has the name that was given', { name: 'Ada' }, false, { name: 'Ada' }],
    ['hides an address that was only typed', { email }, false, { name: 'Visitor 7F3A' }],
    ['shows it where the shop trusts it', { email }, true, { name: 'Visitor 7F3A', email }],
    [
      'shows one that was verified',
      { email, name: 'Ada', subject: 'user-1' },
      false,
      { name: 'Ada', email },
    ],
    [
      'has none when it was taken back',
      { email: '', subject: 'u' },
      true,
      { name: 'Visitor 7F3A' },
    ],
  ])('%s', async (_case, visitor, trusted, contact) => {
    const { request } = await normalize(claim(visitor, 'hello'), trusted);
    expect(request.contact).toEqual(contact);
    expect(createMessageRequestSchema.parse(request)).toEqual(request);
  });
});

test.each<[string, Partial<VisitorRecord>, string | undefined, string | undefined]>([
  ['is told with a visitor whom nothing confirms', {}, '203.0.113.7', '203.0.113.0/24'],
  ['is the /48 of IPv6', {}, '2001:db8:1:2::/64', '2001:db8:1::/48'],
  ['is unknown when it was not stored', {}, undefined, 'unknown'],
  ['is not told of a verified visitor', { subject: 'user-1' }, '203.0.113.7', undefined],
])('the network %s', async (_case, visitor, network, expected) => {
  const { unverifiedFrom } = await normalize(claim(visitor, 'hello', [], network));
  expect(unverifiedFrom).toBe(expected);
});

test('the message is what was written, as plain text', async () => {
  const text = ' <b>bold</b> & *this*\n\nüñï 😀 ';
  const { request, verdict, findings } = await normalize(claim({}, text));
  expect(verdict).toEqual({ kind: 'deliver' });
  expect(request.conversation).toEqual({ direction: 'inbound', type: 'web_chat' });
  expect(request.message).toEqual({
    content: text,
    format: 'TEXT',
    remote_id: `chat:${VISITOR.id}:0b6d6a4e-0000-4000-8000-000000000000`,
    timestamp: '2026-01-02T03:04:05.678Z',
  });
  expect(JSON.stringify(findings)).not.toContain('bold');
});

test.each(['', '\u200b\u2060'])(
  'files with the text %j have a content all the same',
  async (text) => {
    const upload = {
      id: 'u1',
      name: 'a.png',
      type: 'image/png',
      size: 1,
      blob: asBlobName('gone'),
    };
    const { request, attachments } = await normalize(claim({}, text, [upload]));
    expect(request.message.content).toBe('(no text)');
    expect(attachments).toHaveLength(1);
    expect(attachments[0]).toMatchObject({
      part: 'u1',
      placeholder: expect.stringContaining('a.png'),
    });
    await expect(attachments[0]?.open(AbortSignal.timeout(60_000))).rejects.toThrow(
      AttachmentUnavailable,
    );
  },
);

test.each([
  ['no JSON', Buffer.from('{')],
  ['another shape', Buffer.from('{"text":7}')],
])('a raw form of %s rejects', async (_case, bytes) => {
  const claimed = { ...claim({}, 'x'), raw: { kind: 'inline' as const, bytes } };
  await expect(normalize(claimed)).rejects.toThrow();
});

describe('the page', () => {
  const page = { url: 'https://acme.example/shoes', title: 'Shoes', cart: '2 pairs, 90 EUR' };
  const arrival = (text: string): Claimed => {
    const plain = claim({}, text);
    if (plain.raw.kind !== 'inline') throw new Error('a chat message is inline');
    const raw = { ...(JSON.parse(Buffer.from(plain.raw.bytes).toString()) as object), page };
    return { ...plain, raw: { kind: 'inline', bytes: Buffer.from(JSON.stringify(raw)) } };
  };

  test('is a line of the first message of a conversation', async () => {
    const { request } = await normalize(arrival('Do these run small?'));
    expect(request.message.content).toBe(
      'Do these run small?\n\n[Written on: Shoes · https://acme.example/shoes · cart: 2 pairs, 90 EUR]',
    );
  });

  test('is not repeated in a known conversation', async () => {
    const known = { ...arrival('And these?'), conversation: { id: 'c', usedAt: 0 } };
    expect((await normalize(known)).request.message.content).toBe('And these?');
  });
});
