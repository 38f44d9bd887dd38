import { describe, expect, it, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isE164 } from '../../../src/channels/sms/address.ts';
import { subscriberOf } from '../../../src/domain/phone-forms.ts';
import { completeConfig } from '../../../src/config/complete.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { renderMistakes } from '../../../src/config/mistakes.ts';
import { createGateway } from '../../../src/gateway/gateway.ts';
import { silentLogger } from '../../../src/observability/logger.ts';
import { ends } from '../../support/ends.ts';
import { ACME_SHOP, gatewayConfig } from '../../support/gateway-config.ts';
import { sharedGateway, type ShopScene } from '../../e2e/shared-gateway.ts';
import { PlatformFront } from '../../support/platform-front.ts';
import { sendSms, sidOf } from '../../support/sms-sender.ts';
import { waitForEntries } from '../../support/spool-beside.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { THEIR_NUMBER } from '../../support/twilio-stand-in.ts';
import { waitFor } from '../../support/wait-for.ts';

const HOUR_MS = 60 * 60 * 1000;

describe('both forms of a number stand for one person', () => {
  it.each([
    ['Brazil, the ninth digit', '+5511987654321', '+551187654321'],
    ['Brazil, an old number that began with 6', '+5531967654321', '+553167654321'],
    ['Argentina, the 9', '+5491123456789', '+541123456789'],
    ['Argentina, an area code of three digits', '+5493412345678', '+543412345678'],
    ['Mexico, the 1', '+5215512345678', '+525512345678'],
    ['Mexico, an area code of three digits', '+5216641234567', '+526641234567'],
  ])('%s: %s and %s', (_label, one, other) => {
    expect(subscriberOf(one)).toBe(subscriberOf(other));
    expect([isE164(one), isE164(other)]).toEqual([true, true]);
  });

  it.each([
    [
      'a landline of Brazil, and a mobile number with a 9 before it',
      '+551133334444',
      '+5511933334444',
    ],
    ['two areas of Brazil', '+551187654321', '+552187654321'],
    ['two people of Argentina', '+5491123456789', '+541123456780'],
    ['another country with the same digits', '+11987654321', '+5511987654321'],
    ['a 9 that belongs to a number of Chile', '+56912345678', '+5612345678'],
    ['too many digits', '+52115512345678', '+5215512345678'],
  ])('%s are two: %s and %s', (_label, one, other) => {
    expect(subscriberOf(one)).not.toBe(subscriberOf(other));
  });

  it.each(['72345', 'AMAZON', 'acme_agent', '+14155552671', ''])('%j stays as it is', (address) => {
    expect(subscriberOf(address)).toBe(address);
  });
});

/** One gateway for the tests that do not start it again, with a shop for each. */
const shared = sharedGateway({
  Brazil: {},
  Argentina: {},
  Mexico: {},
  race: {},
  opt_out: {},
  key: {},
  stranger: {},
});

const settingOf = (name: Parameters<typeof shared>[0]) => {
  const scene = shared(name);
  return { ...textsTo(scene), shop: scene.shop };
};

/** Sends texts to a shop, each with an id of its words. */
function textsTo({
  platform,
  sms,
  waitForEntries: waitForOwn,
}: Pick<ShopScene, 'platform' | 'sms' | 'waitForEntries'>) {
  const send = async (Body: string, changes: Readonly<Record<string, string>> = {}) => {
    const answer = await sms({ MessageSid: sidOf(Body), Body, ...changes });
    expect(answer.status).toBe(200);
  };
  return {
    platform,
    send,
    /** Sends a text and waits until it is settled. */
    deliver: async (Body: string, changes: Readonly<Record<string, string>> = {}) => {
      await send(Body, changes);
      await waitForOwn(`${Body} to settle`, (entries) => {
        const entry = entries.find(({ remoteId }) => remoteId === sidOf(Body));
        return entry?.state === 'delivered' || entry?.state === 'suppressed';
      });
    },
    conversations: () => platform.messages.map(({ conversation_id }) => conversation_id),
  };
}

/** A platform and a gateway that can be started again on the same data. */
async function setting(continuity = 'forever') {
  const dir = tempDir();
  ends(() => dir.remove());
  const platform = new PlatformFront({ dir: dir.path });
  ends(() => platform.stop());
  await platform.start();
  const config = gatewayConfig({ dataDir: dir.path, platformUrl: platform.url });
  const shops = config.shops.map((shop) => ({ ...shop, sms: { ...shop.sms, continuity } }));
  const file = join(dir.path, 'gateway.json');
  writeFileSync(file, JSON.stringify({ ...config, shops }));

  let httpUrl = '';
  let stop = (): Promise<void> => Promise.resolve();
  ends(() => stop());
  const start = async (): Promise<void> => {
    const loaded = loadConfig({ file, env: {} });
    if (!loaded.ok) throw new Error(renderMistakes(loaded.mistakes));
    const complete = await completeConfig(loaded.config);
    const gateway = createGateway({ config: complete, logger: silentLogger });
    const { http } = await gateway.start();
    httpUrl = `http://${http?.host ?? ''}:${http?.port ?? 0}`;
    stop = () => gateway.stop();
  };
  await start();
  return {
    ...textsTo({
      platform,
      sms: (text) => sendSms(httpUrl, text),
      waitForEntries: (what, probe) => waitForEntries(dir.path, what, probe),
    }),
    /** While the gateway is down, so many hours pass: what it remembers and keeps grows older. */
    restartAfter: async (hours: number) => {
      await stop();
      const db = new Database(join(dir.path, 'spool.db'));
      db.prepare('UPDATE conversations SET used_at = used_at - ?').run(hours * HOUR_MS);
      db.prepare('UPDATE entries SET received_at = received_at - ?').run(hours * HOUR_MS);
      db.close();
      await start();
    },
    optedOut: (): number => {
      const db = new Database(join(dir.path, 'spool.db'), { readonly: true });
      const rows = db.prepare('SELECT lane FROM opt_outs WHERE opted_out = 1').all();
      db.close();
      return rows.length;
    },
  };
}

const unique = (ids: readonly (string | null)[]): number => new Set(ids).size;

describe('the two forms of a number', () => {
  test.each<['Brazil' | 'Argentina' | 'Mexico', string, string]>([
    ['Brazil', '+5511987654321', '+551187654321'],
    ['Argentina', '+5491123456789', '+541123456789'],
    ['Mexico', '+5215512345678', '+525512345678'],
  ])('of %s land in one conversation, each as it came', async (country, one, other) => {
    const { platform, deliver, conversations } = settingOf(country);
    await deliver(`${country} 1`, { From: one });
    await deliver(`${country} 2`, { From: other });
    await deliver(`${country} 3`, { From: one });
    expect(unique(conversations())).toBe(1);
    expect(platform.payloads.map(({ contact }) => contact.phone)).toEqual([one, other, one]);
    expect(platform.payloads[2]?.conversation.id).toBe(conversations()[0]);
  });

  test('do not race into two conversations', async () => {
    const { platform, send, conversations } = settingOf('race');
    const pairs = [
      ['+5511987654321', '+551187654321'],
      ['+5491123456789', '+541123456789'],
      ['+5215512345678', '+525512345678'],
    ] as const;
    const texts = pairs.flatMap((pair, country) =>
      Array.from({ length: 6 }, (_, n) => ({ From: pair[n % 2] ?? '', Body: `${country}-${n}` })),
    );
    // The first of each person is not answered before all are in, and the others could go.
    let open: () => void = () => undefined;
    const allIn = new Promise<void>((resolve) => {
      open = resolve;
    });
    platform.gate = () => allIn.then(() => 'pass' as const);
    await Promise.all(texts.map(({ Body, From }) => send(Body, { From })));
    await waitFor('three first texts', () => platform.payloads.length === pairs.length);
    open();
    await waitFor('all texts', () => platform.messages.length === texts.length);
    expect(unique(conversations())).toBe(pairs.length);
    for (const country of pairs.keys()) {
      const own = platform.messages.filter(({ content }) => content.startsWith(`${country}-`));
      expect(unique(own.map(({ conversation_id }) => conversation_id))).toBe(1);
    }
  });

  test('share the opt-out', async () => {
    const { platform, deliver } = settingOf('opt_out');
    await deliver('Hello', { From: '+551187654321' });
    await deliver('STOP', { From: '+551187654321' });
    await deliver('START', { From: '+5511987654321' });
    expect(platform.messages.map(({ content }) => content)).toEqual(['Hello']);
  });
});

describe('the key is account, channel, To and From', () => {
  test('each of which makes another conversation', async () => {
    const { deliver, conversations, shop } = settingOf('key');
    await deliver('sms');
    await deliver('another person', { From: '+14155550123' });
    await deliver('whatsapp', {
      From: `whatsapp:${THEIR_NUMBER}`,
      To: `whatsapp:${shop.number}`,
    });
    expect(unique(conversations())).toBe(3);
    await deliver('sms again');
    expect(conversations()[3]).toBe(conversations()[0]);
  });
});

describe('a conversation goes on', () => {
  test('forever, over restarts and years', async () => {
    const { deliver, restartAfter, conversations } = await setting();
    await deliver('first');
    await restartAfter(3 * 365 * 24);
    await deliver('second');
    expect(unique(conversations())).toBe(1);
  });

  test('within a window of 72h, which begins again with every message, over restarts', async () => {
    const { deliver, restartAfter, conversations } = await setting('72h');
    await deliver('first');
    await restartAfter(71);
    await deliver('second');
    await restartAfter(71);
    await deliver('third');
    expect(unique(conversations())).toBe(1);
    await restartAfter(73);
    await deliver('fourth');
    await deliver('fifth');
    const [first, , , fourth, fifth] = conversations();
    expect(fourth).not.toBe(first);
    expect(fifth).toBe(fourth);
  });

  test('after an hour of silence only when the platform still has it', async () => {
    const { platform, deliver, restartAfter, conversations } = await setting();
    const looks = () => platform.calls.filter(({ call }) => call.startsWith('GET /conv')).length;
    await deliver('first');
    await deliver('second');
    expect(looks()).toBe(0);
    await restartAfter(2);
    await deliver('third');
    expect(looks()).toBe(1);
    await restartAfter(2);
    platform.gate = (call, response) => {
      if (!/^GET \/(conv|messages)/.test(call)) return undefined;
      const isConversation = call.startsWith('GET /conv');
      response.writeHead(isConversation ? 404 : 200, { 'Content-Type': 'application/json' });
      response.end(isConversation ? '{}' : '{"results":[]}');
      return Promise.resolve('taken');
    };
    await deliver('fourth');
    await deliver('fifth');
    const [first, , third, fourth, fifth] = conversations();
    expect(third).toBe(first);
    expect(fourth).not.toBe(first);
    expect(fifth).toBe(fourth);
  });

  test('when a text waited past the window for the platform', async () => {
    const { platform, deliver, send, restartAfter, conversations } = await setting('72h');
    await deliver('first');
    platform.faults = () => ({ kind: 'status', status: 503 });
    await send('second');
    await waitFor('a try', () => platform.calls.some(({ status }) => status === 503));
    // It came right after the first; only its delivery is late.
    await restartAfter(80);
    platform.faults = () => undefined;
    await waitFor('the second', () => platform.messages.length === 2);
    expect(unique(conversations())).toBe(1);
  });
});

describe('an opt-out', () => {
  const timeline = (platform: PlatformFront, { shopId } = ACME_SHOP) =>
    platform.inspect.events(shopId);

  test('is an event on the contact, never a message or a conversation, and outlives a restart', async () => {
    const { platform, deliver, restartAfter, optedOut } = await setting();
    await deliver('Hello');
    await deliver('STOP');
    await restartAfter(0);
    expect(optedOut()).toBe(1);
    await deliver('START');
    await waitFor('both events', () => timeline(platform).length === 2);
    await deliver('YES');

    const contact = platform.messages[0]?.contact_id;
    expect(timeline(platform).map(({ name, contact_id }) => ({ name, contact_id }))).toEqual([
      { name: 'SMS opt-out', contact_id: contact },
      { name: 'SMS opt-in', contact_id: contact },
    ]);
    // YES from someone who is in is an answer to something.
    expect(platform.messages.map(({ content }) => content)).toEqual(['Hello', 'YES']);
    expect(unique(platform.messages.map(({ conversation_id }) => conversation_id))).toBe(1);
    expect(optedOut()).toBe(0);
  });

  test('of somebody whom the platform does not know makes neither contact nor conversation', async () => {
    const { platform, deliver, send, shop } = settingOf('stranger');
    await send('STOP');
    await waitFor('the look for a contact', () =>
      platform.calls.some(({ call }) => call === 'GET /contacts/'),
    );
    await deliver('Hello', { From: '+14155550123' });
    expect(timeline(platform, shop)).toEqual([]);
    expect(platform.messages.map(({ content }) => content)).toEqual(['Hello']);
  });
});
