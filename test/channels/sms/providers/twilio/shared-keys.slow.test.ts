import { expect, test } from '@jest/globals';
import { ends } from '../../../../support/ends.ts';
import { freePorts, ownLoopbackAddress, PUBLIC_URL } from '../../../../support/gateway-config.ts';
import { GatewayProcess } from '../../../../support/gateway-process.ts';
import { writeConfig } from '../../../../support/running-gateway.ts';
import { ScriptedPlatform } from '../../../../support/scripted-platform.ts';
import { tempDir } from '../../../../support/temp-dir.ts';
import {
  ACCOUNT_SID,
  AUTH_TOKEN,
  bodySha256,
  encodeForm,
  inboundForm,
  messageSid,
  postWebhook,
  twilioSignature,
} from '../../../../support/twilio-stand-in.ts';
import { waitFor } from '../../../../support/wait-for.ts';

const KEY = { sid: `SK${'1'.repeat(32)}`, secret: 'the secret of the rule' };
const URL_AT_TWILIO = `${PUBLIC_URL}/sms/twilio`;
const settings = (algorithm: string, sid = KEY.sid) => ({
  'X-Twilio-Webhooks-Signature-Settings': `key=${sid},algorithm=${algorithm}`,
});

test('the built program takes what a shared key has signed, and nothing else', async () => {
  const dir = tempDir();
  ends(() => dir.remove());
  const platform = new ScriptedPlatform();
  ends(() => platform.stop());
  const host = ownLoopbackAddress();
  const ports = await freePorts(host);
  const configFile = writeConfig({
    ...{ dataDir: dir.path, host, ports, platformUrl: await platform.start() },
    sms: {
      twilio: {
        ...{ accountSid: ACCOUNT_SID, authTokens: [AUTH_TOKEN], sharedKeys: [KEY] },
        baseUrl: 'http://127.0.0.1:9',
      },
    },
  });
  const gateway = await GatewayProcess.start({ configFile, host, ports });
  ends(() => gateway.kill());
  const target = `http://${host}:${ports.http}/sms/twilio`;
  const post = async (
    n: number,
    secret: string,
    [digest, name]: readonly [string, string],
    sid?: string,
  ) => {
    const form = inboundForm({ MessageSid: messageSid(n), Body: `text ${n}` });
    const signature = twilioSignature(secret, URL_AT_TWILIO, form, digest);
    const headers = settings(name, sid);
    return (await postWebhook({ target, body: encodeForm(form), signature, headers })).status;
  };
  const SHA256 = ['sha256', 'HMAC_SHA256'] as const;

  expect(await post(1, KEY.secret, SHA256)).toBe(200);
  expect(await post(2, KEY.secret, ['sha1', 'HMAC_SHA1'])).toBe(200);
  expect(await post(3, 'another secret', SHA256)).toBe(403);
  expect(await post(4, AUTH_TOKEN, ['sha1', 'HMAC_SHA1'])).toBe(403);
  expect(await post(5, KEY.secret, ['sha1', 'HMAC_SHA256'])).toBe(403);
  expect(await post(6, KEY.secret, SHA256, `SK${'9'.repeat(32)}`)).toBe(403);

  const body = JSON.stringify(Object.fromEntries(inboundForm({ MessageSid: messageSid(7) })));
  const query = `?bodySHA256=${bodySha256(body)}`;
  const json = await postWebhook({
    ...{ target: target + query, body },
    signature: twilioSignature(KEY.secret, URL_AT_TWILIO + query, [], 'sha256'),
    headers: { ...settings('HMAC_SHA256'), 'Content-Type': 'application/json' },
  });
  expect(json.status).toBe(200);

  await waitFor('three messages', () => platform.messages.length === 3, 20);
  expect(platform.messages.map(({ message }) => message['remote_id']).toSorted()).toEqual(
    [1, 2, 7].map((n) => messageSid(n)),
  );
  const refused = gateway.log.filter(({ message }) => message === 'sms.shared_key_refused');
  expect(new Set(refused.map(({ sharedKey }) => sharedKey))).toEqual(
    new Set([KEY.sid, `SK${'9'.repeat(32)}`]),
  );
});
