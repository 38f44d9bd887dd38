import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { optOutsOf } from '../../src/channels/sms/person.ts';
import { laneOf } from '../../src/channels/sms/receive.ts';
import { openSqliteStore } from '../../src/spool/sqlite/open.ts';
import { asShopId } from '../../src/domain/ids.ts';
import { ends } from '../support/ends.ts';
import { filesWith } from '../support/erased-scan.ts';
import { ACME, INBOX } from '../support/gateway-config.ts';
import { sendSms, sidOf } from '../support/sms-sender.ts';
import { entriesOf, waitForEntries } from '../support/spool-beside.ts';
import {
  aGateway,
  ANN,
  annAndBob,
  annsMail,
  BOB,
  CANARY,
  command,
  commandReading,
  delivered,
  outbox,
  send,
} from '../support/person-scene.ts';
import {
  ACCOUNT_SID,
  mediaPath,
  mediaSid,
  OUR_NUMBER,
  startTwilioStandIn,
  THEIR_NUMBER,
} from '../support/twilio-stand-in.ts';
import { waitFor } from '../support/wait-for.ts';

interface Report {
  readonly erased: boolean;
  readonly found: {
    readonly shops: Readonly<Record<string, { entries: Record<string, number> }>>;
    readonly platform: Readonly<Record<string, number>>;
  };
  readonly others: {
    readonly entries: readonly { id: string; where: readonly string[] }[];
    readonly platformMessages: readonly { id: string; where: readonly string[] }[];
  };
}

const erase = (dataDir: string, ...args: string[]) => command(dataDir, 'erase', ...args);

async function eraseJson(dataDir: string, address: string, ...more: string[]): Promise<Report> {
  const { code, out, err } = await erase(dataDir, '--address', address, '--json', ...more);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(out) as Report;
}

test('a person is erased beside a running gateway: nothing is left but in the mail of others', async () => {
  const { dataDir, running, restart } = await aGateway();
  const { visitor, messageId, say } = await annAndBob(running.gateway, dataDir);
  expect(filesWith(dataDir, ANN).length).toBeGreaterThan(3);

  const planned = await eraseJson(dataDir, ANN, '--dry-run');
  expect(planned).toMatchObject({
    erased: false,
    found: {
      shops: {
        acme: { entries: { email: 1, web_chat: 1 }, visitors: 1, chatLines: 2, uploads: 1 },
      },
      platform: { contacts: 2, conversations: 2, files: 2, 'emails in the outbox': 1 },
    },
  });
  expect(await entriesOf(dataDir)).toHaveLength(3);

  const done = await eraseJson(dataDir, ANN.toUpperCase(), '--yes');
  expect(done.found).toEqual(planned.found);
  const [bobs, ...rest] = await entriesOf(dataDir);
  expect(rest).toEqual([]);
  expect(done.others.entries).toMatchObject([{ id: bobs?.id, where: ['header'] }]);
  expect(done.others.platformMessages).toMatchObject([{ where: ['header', 'body'] }]);
  expect(filesWith(dataDir, CANARY)).toEqual([]);
  expect(filesWith(join(dataDir, 'blobs'), ANN)).toEqual([]);
  expect(outbox(dataDir)).toHaveLength(2 /* Bob's, and sms.log is not there */ - 1);

  // What was here before is still known, also by a gateway that has kept running.
  await send(running.gateway, ANN, annsMail());
  visitor.socket.connect();
  const again = await waitFor(
    'the chat to take the message',
    async () => {
      if (!visitor.socket.connected) visitor.socket.connect();
      const answer = await visitor.send(say, { id: messageId }).catch(() => undefined);
      return answer?.ok === true ? answer : undefined;
    },
    100,
  );
  expect(again.ok).toBe(true);
  visitor.close();
  expect(await entriesOf(dataDir)).toHaveLength(1);
  expect(filesWith(dataDir, CANARY)).toEqual([]);

  await restart();
  await send(running.gateway, ANN, annsMail());
  expect(await entriesOf(dataDir)).toHaveLength(1);
  expect(filesWith(dataDir, CANARY)).toEqual([]);

  // With Bob's mail, the last that named her goes.
  await eraseJson(dataDir, BOB, '--yes');
  expect(filesWith(dataDir, ANN)).toEqual([]);
  expect(filesWith(dataDir, BOB)).toEqual([]);
  expect((await erase(dataDir, '--address', BOB)).out).toMatch(/^Nothing is stored/);
});

test('a number is erased with its texts, pictures and answers; who opted out stays out', async () => {
  const twilio = await startTwilioStandIn();
  ends(() => twilio.close());
  const sid = sidOf('picture', 'MM');
  const medium = mediaPath(sid, mediaSid(1));
  const vcard = `BEGIN:VCARD\r\nVERSION:3.0\r\nFN:${CANARY}\r\nTEL:${THEIR_NUMBER}\r\nEND:VCARD\r\n`;
  twilio.script(medium, { status: 200, headers: { 'Content-Type': 'text/vcard' }, body: vcard });
  const { dataDir, running, restart } = await aGateway({ twilioUrl: twilio.baseUrl });
  const mms = {
    ...{ MessageSid: sid, Body: `Where is my order? ${CANARY}`, NumMedia: '1' },
    ...{ MediaContentType0: 'text/vcard', MediaUrl0: twilio.baseUrl + medium },
  };
  const stop = { MessageSid: sidOf('stop'), Body: 'STOP' };
  const other = { MessageSid: sidOf('other'), Body: 'Hello there', From: '+14155550123' };
  await sendSms(running.gateway.httpUrl, mms);
  // Nothing goes to who has opted out: the answer comes first.
  await waitFor(
    'the answer',
    () => filesWith(join(dataDir, 'platform', 'outbox'), THEIR_NUMBER).length > 0,
    50,
  );
  for (const sms of [stop, other]) await sendSms(running.gateway.httpUrl, sms);
  // One is the line on the contact's timeline that he has opted out.
  await waitForEntries(
    dataDir,
    'four settled entries',
    (entries) => entries.length === 4 && entries.every(({ settledAt }) => settledAt !== undefined),
  );

  const done = await eraseJson(dataDir, '(415) 555-2671', '--yes');
  expect(done.found.shops).toMatchObject({ acme: { entries: { sms: 3 }, optOuts: 1 } });
  const digits = THEIR_NUMBER.slice(1);
  expect(filesWith(dataDir, digits)).toEqual([]);
  expect(filesWith(dataDir, CANARY)).toEqual([]);
  expect(filesWith(dataDir, '14155550123')).not.toEqual([]);

  for (const sms of [mms, stop]) await sendSms(running.gateway.httpUrl, sms);
  await restart();
  for (const sms of [mms, stop]) await sendSms(running.gateway.httpUrl, sms);
  expect(await entriesOf(dataDir)).toHaveLength(1);
  expect(filesWith(dataDir, digits)).toEqual([]);
  const store = await openSqliteStore({ dir: dataDir, role: 'beside', reserveBytes: 0 });
  ends(() => store.spool.close());
  const lane = (from: string) => laneOf({ account: ACCOUNT_SID, from, to: OUR_NUMBER });
  const shop = asShopId(ACME.shopId);
  expect(await optOutsOf(store.optOuts, undefined).isOptedOut(shop, lane(THEIR_NUMBER))).toBe(true);
  expect(await optOutsOf(store.optOuts, undefined).isOptedOut(shop, lane('+14155550123'))).toBe(
    false,
  );
});

test('without a gateway the same, and unused files go too', async () => {
  const { dataDir, running } = await aGateway();
  const { visitor } = await annAndBob(running.gateway, dataDir);
  visitor.close();
  await running.gateway.stop();
  await eraseJson(dataDir, ANN, '--yes');
  expect(filesWith(dataDir, CANARY)).toEqual([]);
  await eraseJson(dataDir, BOB, '--yes');
  expect(filesWith(dataDir, ANN)).toEqual([]);
  expect(filesWith(dataDir, BOB)).toEqual([]);
  const db = new Database(join(dataDir, 'spool.db'));
  db.exec('DELETE FROM marks');
  db.close();
  const finish = async () => (await erase(dataDir, '--finish')).out.split('\n');
  expect(await finish()).toContain('spool.db: rewritten');
  expect(await finish()).toContain('spool.db: clean');
  for (const wrong of [[], ['--finish', '--address', ANN]]) {
    expect(await erase(dataDir, ...wrong)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/either --address or --finish/),
    });
  }
  for (const wrong of ['--dry-run', '--shop=acme']) {
    expect(await erase(dataDir, '--finish', wrong)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/'--finish' cannot be used with option/),
    });
  }
});

test("a shop's own inbox and number are refused, and nobody is asked without a terminal", async () => {
  const { dataDir, running } = await aGateway();
  await send(running.gateway, ANN, annsMail());
  await delivered(dataDir, 1);
  for (const own of [INBOX, OUR_NUMBER]) {
    const refused = await erase(dataDir, '--address', own, '--yes');
    expect(refused).toMatchObject({ code: 2, err: expect.stringMatching(/acme's own/) });
  }
  const unasked = await erase(dataDir, '--address', ANN);
  expect(unasked).toMatchObject({ code: 2, err: expect.stringMatching(/--yes/) });
  expect(await entriesOf(dataDir)).toHaveLength(1);
});

test('the address may come from standard input, where no list of processes shows it', async () => {
  const { dataDir, running } = await aGateway();
  await send(running.gateway, ANN, annsMail());
  const from = (input: string, ...args: string[]) =>
    commandReading(input, dataDir, args[0] ?? 'erase', '--address', '-', ...args.slice(1));
  for (const [input, complaint] of [
    [`${ANN}\n${BOB}\n`, /more than one line/],
    ['', /--address is empty/],
    [`${INBOX}\n`, /own addresses/],
    [`${ANN}\n`, /confirm with --yes/],
  ] as const) {
    const { code, err } = await from(input);
    expect({ input, code, err }).toEqual({ input, code: 2, err: expect.stringMatching(complaint) });
  }
  const archive = join(dataDir, 'ann.zip');
  expect(await from(`${ANN}\r\n`, 'export', '--output', archive)).toMatchObject({ code: 0 });
  expect(existsSync(archive)).toBe(true);
  expect(await entriesOf(dataDir)).toHaveLength(1);
  expect(await from(ANN, 'erase', '--yes')).toMatchObject({ code: 0 });
  expect(await entriesOf(dataDir)).toEqual([]);
});
