import { expect, test } from '@jest/globals';
import { openSqliteStore } from '../../src/spool/sqlite/open.ts';
import { ends } from '../support/ends.ts';
import { PlatformFront } from '../support/platform-front.ts';
import { startGateway } from '../support/running-gateway.ts';
import { sendSms, sidOf } from '../support/sms-sender.ts';
import { entriesOf, waitForEntries } from '../support/spool-beside.ts';
import { tempDir } from '../support/temp-dir.ts';
import { serveMessages } from '../support/twilio-messages.ts';
import {
  ACCOUNT_SID,
  mediaPath,
  mediaSid,
  OUR_NUMBER,
  startTwilioStandIn,
} from '../support/twilio-stand-in.ts';
import { waitFor } from '../support/wait-for.ts';

const HOUR = 3_600_000;
const PEOPLE = 40;
const MISSED = 500;

interface Text {
  readonly MessageSid: string;
  readonly From: string;
  readonly Body: string;
}

const personOf = (n: number): string => `+1415555${String(1000 + (n % PEOPLE))}`;
const aText = (name: string, n: number): Text => ({
  MessageSid: sidOf(`${name} ${n}`),
  From: personOf(n),
  Body: `${name} ${n}`,
});

/** A platform, a Twilio, and a folder for gateways that come and go. */
async function place() {
  const dir = tempDir();
  ends(() => dir.remove());
  const platform = new PlatformFront({ dir: dir.path });
  ends(() => platform.stop());
  await platform.start();
  const twilio = await startTwilioStandIn();
  ends(() => twilio.close());
  const choices = { dataDir: dir.path, platformUrl: platform.url, twilioUrl: twilio.baseUrl };
  return {
    dataDir: dir.path,
    platform,
    twilio,
    messages: serveMessages(twilio),
    start: async (more: { readonly paused?: boolean } = {}) => {
      const gateway = await startGateway({ ...choices, ...more });
      ends(() => gateway.stop());
      return gateway;
    },
    /** As if the last look at Twilio had been so long ago. */
    lastRunWas: async (at: number) => {
      const { spool } = await openSqliteStore({ dir: dir.path, role: 'owner', reserveBytes: 0 });
      await spool.setMark(`sms ${ACCOUNT_SID} reconciled until`, at);
      await spool.close();
    },
  };
}

test('500 texts of a night without the gateway reach the platform once each, in order', async () => {
  const { platform, twilio, messages, start, lastRunWas, dataDir } = await place();
  const before = await start();
  const accepted = Array.from({ length: 60 }, (_, n) => aText('before', n));
  const dusk = Date.now() - 10 * HOUR;
  for (const [n, text] of accepted.entries()) {
    expect((await sendSms(before.httpUrl, { ...text })).status).toBe(200);
    const { MessageSid: sid, From: from, Body: body } = text;
    messages.keep({ sid, from, body, sentAt: dusk + n * 1000 });
  }
  await waitFor('the first texts', () => platform.messages.length === accepted.length, 20);
  await before.stop();
  await lastRunWas(dusk + 60_000);

  // Nine hours; two texts of each person have the same second.
  const missed = Array.from({ length: MISSED }, (_, n) => aText('missed', n));
  for (const [n, { MessageSid: sid, From: from, Body: body }] of missed.entries()) {
    const sentAt = dusk + 120_000 + Math.floor(n / (2 * PEOPLE)) * 1.4 * HOUR;
    const withMedia = n % 250 === 207;
    const media = withMedia ? [{ sid: mediaSid(n), contentType: 'text/plain' }] : [];
    messages.keep({ sid, from, body, sentAt, media });
    if (withMedia) twilio.script(mediaPath(sid, mediaSid(n)), { status: 200, body: `file ${n}` });
  }
  const after = await start();
  const all = [...accepted, ...missed];
  // What the webhook had brought, and some of what it had not, come once more by it.
  for (const text of [...accepted, ...missed.slice(0, 50)]) {
    expect((await sendSms(after.httpUrl, { ...text })).status).toBe(200);
  }
  await waitFor('all texts', () => platform.messages.length >= all.length, 20);
  await after.stop();

  expect(platform.payloads.map(({ message }) => message.remote_id).toSorted()).toEqual(
    all.map(({ MessageSid }) => MessageSid).toSorted(),
  );
  expect(platform.messages).toHaveLength(all.length);
  for (const person of Array.from({ length: PEOPLE }, (_, n) => personOf(n))) {
    const own = platform.payloads.filter(({ contact }) => contact.phone === person);
    expect(own.map(({ message }) => message.content)).toEqual(
      all.filter(({ From }) => From === person).map(({ Body }) => Body),
    );
    expect(new Set(own.map(({ conversation }) => conversation.agent_contact))).toEqual(
      new Set([OUR_NUMBER]),
    );
  }
  const withFiles = platform.payloads.filter(({ message }) => message.attachments !== undefined);
  expect(withFiles.map(({ message }) => message.content).toSorted()).toEqual([
    'missed 207',
    'missed 457',
  ]);
  expect(await entriesOf(dataDir)).toHaveLength(all.length);
});

test('a gateway that delivers nothing for now accepts what was missing all the same', async () => {
  const { messages, start, dataDir, platform } = await place();
  const { MessageSid: sid, From: from, Body: body } = aText('paused', 1);
  const sentAt = Math.floor(Date.now() / 1000) * 1000 - 60_000;
  messages.keep({ sid, from, body, sentAt });
  await start({ paused: true });
  const entry = await waitForEntries(dataDir, 'the entry', (entries) => entries[0]);
  expect(entry).toMatchObject({ remoteId: sid, receivedAt: sentAt, state: 'queued' });
  expect(platform.messages).toHaveLength(0);
});

test('a gateway whose Twilio cannot be asked runs, and stops, like any other', async () => {
  const { messages, start, platform } = await place();
  messages.answerNext(...Array.from({ length: 100 }, () => ({ status: 401 })));
  const gateway = await start();
  await waitFor('a refusal', () => messages.requests.length > 0);
  const answer = await sendSms(gateway.httpUrl, { MessageSid: sidOf('live'), Body: 'live' });
  expect(answer.status).toBe(200);
  await waitFor('the text', () => platform.messages.length === 1);
  await gateway.stop();
});
