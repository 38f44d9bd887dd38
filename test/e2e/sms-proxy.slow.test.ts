import { describe, expect, test } from '@jest/globals';
import { parseEmailMeta } from '../../src/channels/email/stored.ts';
import { ends } from '../support/ends.ts';
import { freePorts, INBOUND_TOKEN, INBOX, ownLoopbackAddress } from '../support/gateway-config.ts';
import { anEmail } from '../support/gateway-setting.ts';
import {
  type NginxProxy,
  type ProxiedAnswer,
  startNginxProxy,
  whyNoNginx,
} from '../support/nginx-proxy.ts';
import { sidOf } from '../support/sms-sender.ts';
import { entriesOf } from '../support/spool-beside.ts';
import {
  AUTH_TOKEN,
  encodeForm,
  inboundForm,
  twilioSignature,
} from '../support/twilio-stand-in.ts';
import { waitFor } from '../support/wait-for.ts';
import { scene, type Scene } from './scene.ts';

const missing = whyNoNginx();
if (missing !== undefined) {
  process.stderr.write(`\n!! SKIPPED: the tests behind a real nginx, since ${missing}\n`);
}
const describeWithNginx = missing === undefined ? describe : describe.skip;

const HOSTNAME = 'sms.acme.example';
const ACCEPTED = { status: 200, body: expect.stringContaining('<Response/>') };

interface Behind extends Scene {
  readonly proxy: NginxProxy;
  /** As Twilio knows it: https, the proxy's name and its odd port. */
  readonly publicUrl: string;
}

/** A gateway that the world reaches through nginx alone. */
async function behindNginx(trustProxy: readonly string[] = []): Promise<Behind> {
  const host = ownLoopbackAddress();
  const ports = await freePorts(host);
  const proxy = await startNginxProxy(`${host}:${ports.http}`, HOSTNAME);
  ends(() => proxy.stop());
  const publicUrl = `https://${HOSTNAME}:${proxy.port}`;
  const all = await scene({ host, ports, http: { publicUrl, trustProxy } });
  return { ...all, proxy, publicUrl };
}

interface Sent {
  readonly sid: string;
  readonly query?: string;
  /** The origin that is signed; the public URL by default. */
  readonly signedFor?: string;
  /** What is sent in place of the text that was signed. */
  readonly sentBody?: string;
}

function sendSigned({ proxy, publicUrl }: Behind, sent: Sent): Promise<ProxiedAnswer> {
  const target = `/sms/twilio${sent.query ?? ''}`;
  const form = (Body: string) => inboundForm({ MessageSid: sent.sid, Body });
  const signed = (sent.signedFor ?? publicUrl) + target;
  return proxy.post({
    target,
    body: encodeForm(form(sent.sentBody ?? 'Where is my order?')),
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded; charset=UTF-8',
      'X-Twilio-Signature': twilioSignature(AUTH_TOKEN, signed, form('Where is my order?')),
    },
  });
}

describeWithNginx('behind a real nginx that ends TLS and rewrites Host', () => {
  test('a webhook signed for the public URL with its odd port is an entry', async () => {
    const behind = await behindNginx();
    const sid = sidOf('proxied');
    expect(await sendSigned(behind, { sid })).toMatchObject(ACCEPTED);
    const { platform, proxy, dataDir } = behind;
    await waitFor('the message', () => platform.messages.length === 1, 20);
    expect(platform.messages[0]).toMatchObject({ remote_id: sid, content: 'Where is my order?' });
    expect((await entriesOf(dataDir)).map(({ remoteId }) => remoteId)).toEqual([sid]);
    expect(await proxy.accesses()).toContain(`/sms/twilio | ${HOSTNAME}:${proxy.port} | 200`);
  });

  test('a webhook signed without the port is one too, as Twilio leaves it out for HTTPS', async () => {
    const behind = await behindNginx();
    const sent = { sid: sidOf('no port'), signedFor: `https://${HOSTNAME}` };
    expect(await sendSigned(behind, sent)).toMatchObject(ACCEPTED);
    expect(await entriesOf(behind.dataDir)).toHaveLength(1);
  });

  test('a wrong signature is refused and leaves nothing', async () => {
    const behind = await behindNginx(['127.0.0.1']);
    const { proxy } = behind;
    const sid = sidOf('forged');
    const forgeries: readonly Sent[] = [
      { sid, sentBody: 'Where is my orden?' },
      // What a gateway would believe that goes by Host, by X-Forwarded-Proto or by its own socket.
      { sid, signedFor: 'http://gateway.internal' },
      { sid, signedFor: 'https://gateway.internal' },
      { sid, signedFor: `http://${HOSTNAME}:${proxy.port}` },
      { sid, signedFor: `https://${HOSTNAME}:${proxy.port + 1}` },
    ];
    for (const forged of forgeries) {
      const { status } = await sendSigned(behind, forged);
      expect({ forged, status }).toEqual({ forged, status: 403 });
    }
    expect(await entriesOf(behind.dataDir)).toEqual([]);
  });

  test('queries and percent-encodings come through as they were signed', async () => {
    const behind = await behindNginx();
    const queries = [
      '?shop=acme&n=1',
      '?q=%C3%BC%20%26%3D%2F%25&r=%F0%9F%98%80',
      '?q=%c3%bc%7e%2d',
      '?shop[id]=7&list[]=a&list[]=b',
      '?a=one+two&b=one%20two&c=1%2B1',
      "?name=O'Hara&x=(1)*!",
      '?a=&b&&=c&',
      '?next=https://x/../y:z@w',
      '?',
    ];
    for (const query of queries) {
      const { status } = await sendSigned(behind, { sid: sidOf(query), query });
      expect({ query, status }).toEqual({ query, status: 200 });
    }
    const sids = (await entriesOf(behind.dataDir)).map(({ remoteId }) => remoteId);
    expect(sids.toSorted()).toEqual(queries.map((query) => sidOf(query)).toSorted());
  });

  /** Only `POST /email/inbound`, on the same listener, keeps the client's address. */
  async function rememberedAddress(behind: Behind, forwardedFor?: string): Promise<string> {
    const { status } = await behind.proxy.post({
      target: `/email/inbound?from=ann@example.com&to=${INBOX}`,
      body: anEmail('proxied', 'Hello'),
      headers: {
        Authorization: `Bearer ${INBOUND_TOKEN}`,
        'Content-Type': 'message/rfc822',
        ...(forwardedFor !== undefined && { 'X-Forwarded-For': forwardedFor }),
      },
      from: '127.0.0.9',
    });
    expect(status).toBe(202);
    const [entry] = await entriesOf(behind.dataDir);
    return parseEmailMeta(entry?.meta ?? {}).remoteAddress;
  }

  test('the client address is the sender of the request when the proxy is trusted', async () => {
    expect(await rememberedAddress(await behindNginx(['127.0.0.1']))).toBe('127.0.0.9');
  });

  test('the client cannot choose its address by a header of its own', async () => {
    const behind = await behindNginx(['127.0.0.1']);
    expect(await rememberedAddress(behind, '203.0.113.7')).toBe('127.0.0.9');
  });

  test("the client address is the proxy's when no proxy is trusted", async () => {
    expect(await rememberedAddress(await behindNginx(), '203.0.113.7')).toBe('127.0.0.1');
  });
});
