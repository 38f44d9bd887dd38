import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { completeConfig } from '../../src/config/complete.ts';
import { loadConfig } from '../../src/config/load.ts';
import { renderMistakes } from '../../src/config/mistakes.ts';
import { localReplies } from '../../src/gateway/local.ts';
import { ends } from '../support/ends.ts';
import { ACME, gatewayConfig } from '../support/gateway-config.ts';
import { tempDir } from '../support/temp-dir.ts';
import { serveMessages } from '../support/twilio-messages.ts';
import {
  ACCOUNT_SID,
  OUR_NUMBER,
  startTwilioStandIn,
  THEIR_NUMBER,
} from '../support/twilio-stand-in.ts';

async function repliesOf(replies: Readonly<Record<string, unknown>>, twilioUrl?: string) {
  const dir = tempDir();
  ends(() => dir.remove());
  const file = join(dir.path, 'gateway.json');
  writeFileSync(
    file,
    JSON.stringify(gatewayConfig({ dataDir: dir.path, replies, ...(twilioUrl && { twilioUrl }) })),
  );
  const loaded = loadConfig({ file, env: {} });
  if (!loaded.ok) throw new Error(renderMistakes(loaded.mistakes));
  return localReplies(await completeConfig(loaded.config));
}

test('by default nothing leaves this machine', async () => {
  expect(await repliesOf({})).toEqual({});
});

test.each([
  ['smtp://mx.example', { host: 'mx.example', port: 587, implicitTls: false }],
  ['smtps://mx.example', { host: 'mx.example', port: 465, implicitTls: true }],
  ['smtp://[::1]:25', { host: '::1', port: 25, implicitTls: false }],
  [
    'smtp://us%40er:p%3Aa%2Fss@mx.example:2525/',
    { host: 'mx.example', port: 2525, implicitTls: false, user: 'us@er', password: 'p:a/ss' },
  ],
])('the relay of %s', async (relay, expected) => {
  expect(await repliesOf({ relay })).toEqual({
    relay: { ...expected, tls: 'auto', name: 'mx.acme.example' },
  });
});

test("the relay's own authority is read from its file", async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  const relayCa = join(dir.path, 'ca.pem');
  const ca = '-----BEGIN CERTIFICATE-----';
  writeFileSync(relayCa, ca);
  const { relay } = await repliesOf({ relay: 'smtp://mx.example', relayCa, relayTls: 'required' });
  expect(relay).toMatchObject({ ca, tls: 'required' });
});

test("with twilio, each shop's texts go out through its own account", async () => {
  const standIn = await startTwilioStandIn();
  ends(() => standIn.close());
  const kept = serveMessages(standIn);
  const { texts: twilio } = await repliesOf({ sms: 'twilio' }, standIn.baseUrl);
  expect([...(twilio?.keys() ?? [])]).toEqual([ACME.shopId]);
  const text = { from: OUR_NUMBER, to: THEIR_NUMBER, body: 'Monday to Friday.' };
  const sid = await twilio?.get(ACME.shopId)?.sendText(text);
  expect(kept.sent).toMatchObject([{ sid, ...text }]);
  expect(standIn.requests[0]?.path).toContain(ACCOUNT_SID);
});
