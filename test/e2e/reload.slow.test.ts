import { expect, test } from '@jest/globals';
import { SignJWT } from 'jose';
import { ChatClient, ConnectRefused } from '../support/chat-client.ts';
import { ends } from '../support/ends.ts';
import { ACME, CHAT_KEY, INBOUND_TOKEN, INBOX } from '../support/gateway-config.ts';
import { anEmail, sendEmail } from '../support/gateway-setting.ts';
import { withSpool } from '../support/spool-beside.ts';
import { AUTH_TOKEN } from '../support/twilio-stand-in.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  BETA,
  BETA_CHAT,
  BETA_INBOX,
  BETA_NUMBER,
  betaShop,
  reloadScene,
  withAcme,
} from './reload-scene.ts';

const NEW_TOKEN = 'fedcba9876543210fedcba9876543210';

test('messages flow in every channel while the configuration changes: none lost, none twice, in order', async () => {
  const scene = await reloadScene();
  const { config, reload, platform, gateway, contents } = scene;
  const smtp = await scene.greeted();
  const visitor = new ChatClient({ url: scene.httpUrl, auth: { key: CHAT_KEY }, reconnect: true });
  ends(() => visitor.close());
  await visitor.open();

  let flowing = true;
  const sent: Record<string, string[]> = { mail: [], text: [], chat: [] };
  const flow = async (kind: string, send: (name: string) => Promise<unknown>) => {
    for (let n = 0; flowing; n += 1) {
      const name = `${kind} ${String(n).padStart(5, '0')}`;
      await send(name);
      sent[kind]?.push(name);
    }
  };
  const flows = [
    flow('mail', async (name) => {
      expect(await sendEmail(smtp, name.replace(' ', '-'), name)).toMatch(/^250/);
    }),
    flow('text', async (name) => {
      // Twilio signs with the one token that is its current one.
      expect(await scene.text(name, { token: AUTH_TOKEN })).toBe(200);
    }),
    flow('chat', async (name) => {
      expect(await visitor.send(name)).toMatchObject({ ok: true });
    }),
  ];
  const some = async () => {
    const before = Object.values(sent).map(({ length }) => length);
    await waitFor(
      'a few more of each',
      () => Object.values(sent).every(({ length }, index) => length > (before[index] ?? 0) + 2),
      10,
    );
  };

  try {
    await some();
    expect(await reload(withAcme(config, (shop) => shop, betaShop(config)))).toMatchObject({
      message: 'config.reloaded',
      who: 'signal',
      changed: 'shops[beta]',
    });
    await some();
    // The platform takes both keys of the shop while one is replaced by the other.
    platform.serve([ACME, { ...ACME, apiKey: 'new-key-of-acme' }, BETA]);
    const newKey = (shop: object) => ({ ...shop, apiKey: 'new-key-of-acme' });
    expect(await reload(withAcme(config, newKey, betaShop(config)))).toMatchObject({
      changed: 'shops[acme].apiKey',
    });
    await some();
    expect(await reload('{"shops": [')).toMatchObject({ message: 'config.refused' });
    await some();
    const tokens = withAcme(config, (shop) => ({
      ...newKey(shop),
      sms: { ...shop.sms, twilio: { ...shop.sms.twilio, authTokens: [NEW_TOKEN, AUTH_TOKEN] } },
      chat: { ...shop.chat, widget: { name: 'Another name' } },
    }));
    expect(await reload(tokens)).toMatchObject({
      changed: 'shops[acme].chat.widget.name, shops[acme].sms.twilio.authTokens, shops[beta]',
    });
    await some();
    expect(await scene.text('by the new token', { token: NEW_TOKEN })).toBe(200);
    const busier = { ...tokens, delivery: { ...config.delivery, concurrency: 3 } };
    expect(await reload(busier)).toMatchObject({ changed: 'delivery.concurrency' });
    await some();
  } finally {
    flowing = false;
    await Promise.all(flows);
  }

  const all = Object.values(sent).flat();
  await waitFor('everything', () => contents(ACME.shopId).length > all.length, 50);
  const arrived = contents(ACME.shopId).filter((content) => content !== 'by the new token');
  for (const [kind, names] of Object.entries(sent)) {
    expect(arrived.filter((content) => content.startsWith(kind))).toEqual(names);
  }
  // Nobody was cut off: one SMTP session and one socket took all of it.
  expect(visitor.disconnects).toEqual([]);
  expect(await smtp.say('NOOP')).toMatch(/^250/);
  expect(gateway.log.filter(({ message }) => message === 'process.unexpected')).toEqual([]);
  platform.serve([{ ...ACME, apiKey: 'new-key-of-acme' }, BETA]);
  expect(await scene.text('after the old key', { token: NEW_TOKEN })).toBe(200);
  await waitFor('the last', () => contents(ACME.shopId).includes('after the old key'), 20);
});

test('entries of a shop that is taken out wait, and go on when it is back', async () => {
  const scene = await reloadScene((config) => ({
    ...config,
    delivery: { ...config.delivery, paused: true },
  }));
  const { config, reload, contents } = scene;
  const both = withAcme(config, (shop) => shop, betaShop(config));
  await reload(both);
  const smtp = await scene.greeted();
  const sendTo = async (inbox: string, id: string) => {
    await smtp.envelope([inbox]);
    await smtp.say('DATA');
    smtp.send(anEmail(id, id).replace(`To: ${INBOX}`, `To: ${inbox}`));
    return smtp.say('\r\n.');
  };
  expect(await sendTo(BETA_INBOX, 'waits')).toMatch(/^250/);
  const token = AUTH_TOKEN;
  expect(await scene.text('waits too', { token, to: BETA_NUMBER })).toBe(200);
  const visitor = new ChatClient({ url: scene.httpUrl, auth: { key: BETA_CHAT }, reconnect: true });
  ends(() => visitor.close());
  await visitor.open();
  const refusals: string[] = [];
  visitor.socket.on('connect_error', (error: Error & { data?: { code?: string } }) => {
    refusals.push(error.data?.code ?? error.message);
  });

  // A recipient that was accepted is still taken at the end of its message.
  await smtp.say('MAIL FROM:<ann@example.com>');
  expect(await smtp.say(`RCPT TO:<${BETA_INBOX}>`)).toMatch(/^250/);
  expect(
    await reload({ ...config, delivery: { ...config.delivery, paused: false } }),
  ).toMatchObject({
    changed: 'delivery.paused, shops[beta]',
  });
  await smtp.say('DATA');
  smtp.send(anEmail('began-before', 'began before'));
  expect(await smtp.say('\r\n.')).toMatch(/^250/);

  // From now on nobody is there, and everyone is told so.
  await smtp.say('MAIL FROM:<ann@example.com>');
  expect(await smtp.say(`RCPT TO:<${BETA_INBOX}>`)).toMatch(/^550/);
  await smtp.say('RSET');
  expect(await scene.text('nobody', { token, to: BETA_NUMBER })).toBe(403);
  await waitFor('the tab to be told', () => refusals.includes('unknown_key'), 20);
  expect(await sendTo(INBOX, 'of the other shop')).toMatch(/^250/);
  await waitFor('the other shop', () => contents(ACME.shopId).length === 1, 20);

  await withSpool(scene.dataDir, async (spool) => {
    const waiting = await spool.list({ limit: 10, states: ['queued'] });
    expect(waiting.map(({ shopId }) => shopId)).toEqual([BETA.shopId, BETA.shopId, BETA.shopId]);
    expect(waiting.map(({ attempts }) => attempts)).toEqual([0, 0, 0]);
  });

  await reload({ ...both, delivery: { ...config.delivery, paused: false } });
  await waitFor('what waited', () => contents(BETA.shopId).length === 3, 20);
  expect(contents(BETA.shopId).filter((each) => each !== 'waits too')).toEqual([
    'waits',
    'began before',
  ]);
});

test('each kind of key counts while it is listed and no longer', async () => {
  const secrets = ['first-identity-secret-of-32-letters', 'other-identity-secret-of-32-letters'];
  const [first = '', second = ''] = secrets;
  const scene = await reloadScene((config) => ({
    ...config,
    shops: config.shops.map((shop) => ({
      ...shop,
      chat: { ...shop.chat, identitySecrets: [first] },
    })),
  }));
  const { config, reload } = scene;
  const chat = async (auth: Record<string, unknown>) => {
    try {
      const client = await ChatClient.connect({ url: scene.httpUrl, auth });
      ends(() => client.close());
      return 'let in';
    } catch (error) {
      if (!(error instanceof ConnectRefused)) throw error;
      return error.data.code;
    }
  };
  const signedBy = async (secret: string) => {
    const identity = await new SignJWT({})
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject('customer-1')
      .setAudience(CHAT_KEY)
      .setExpirationTime('5m')
      .sign(new TextEncoder().encode(secret));
    return chat({ key: CHAT_KEY, identity });
  };
  let messages = 0;
  const inbound = async (token: string) => {
    messages += 1;
    const target = `${scene.httpUrl}/email/inbound?from=ann@example.com&to=${INBOX}`;
    const response = await fetch(target, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'message/rfc822' },
      body: anEmail(`inbound-${messages}`, 'over http'),
    });
    await response.arrayBuffer();
    return response.status;
  };
  const metrics = async (password: string) => {
    const headers = { authorization: `Bearer ${password}` };
    const response = await fetch(`${scene.adminUrl}/metrics`, { headers });
    await response.arrayBuffer();
    return response.status;
  };

  const during = withAcme(config, (shop) => ({
    ...shop,
    email: { ...shop.email, inboundTokens: ['another-inbound-token', INBOUND_TOKEN] },
    sms: { ...shop.sms, twilio: { ...shop.sms.twilio, authTokens: [NEW_TOKEN, AUTH_TOKEN] } },
    chat: { ...shop.chat, identitySecrets: [second, first] },
  }));
  await reload(during);
  expect(await inbound(INBOUND_TOKEN)).toBe(202);
  expect(await inbound('another-inbound-token')).toBe(202);
  expect(await scene.text('old', { token: AUTH_TOKEN })).toBe(200);
  expect(await scene.text('new', { token: NEW_TOKEN })).toBe(200);
  expect(await signedBy(first)).toBe('let in');
  expect(await signedBy(second)).toBe('let in');
  expect(await metrics('of-the-console')).toBe(200);

  const after = withAcme(
    { ...config, admin: { ...config.admin, password: 'another-one' } },
    (shop) => ({
      ...shop,
      email: { ...shop.email, inboundTokens: ['another-inbound-token'] },
      sms: { ...shop.sms, twilio: { ...shop.sms.twilio, authTokens: [NEW_TOKEN] } },
      chat: { ...shop.chat, key: 'acme-2', identitySecrets: [second] },
    }),
  );
  await reload(after);
  expect(await inbound(INBOUND_TOKEN)).toBe(401);
  expect(await inbound('another-inbound-token')).toBe(202);
  expect(await scene.text('too old', { token: AUTH_TOKEN })).toBe(403);
  expect(await scene.text('still', { token: NEW_TOKEN })).toBe(200);
  expect(await chat({ key: CHAT_KEY })).toBe('unknown_key');
  expect(await chat({ key: 'acme-2' })).toBe('let in');
  expect(await metrics('of-the-console')).toBe(401);
  expect(await metrics('another-one')).toBe(200);
});

test('a key that was wrong is put right: what waited goes at once', async () => {
  const scene = await reloadScene((config) => ({
    ...config,
    shops: config.shops.map((shop) => ({ ...shop, apiKey: 'a-mistyped-key' as never })),
  }));
  const { config, reload, gateway, contents } = scene;
  expect(await scene.text('waits for the key', { token: AUTH_TOKEN })).toBe(200);
  await waitFor(
    'the breaker',
    () => gateway.log.some(({ message }) => message === 'entry.attempt_failed'),
    20,
  );
  // An open breaker is next probed after 30 s.
  await reload(withAcme(config, (shop) => ({ ...shop, apiKey: ACME.apiKey })));
  await waitFor('the message', () => contents(ACME.shopId).length === 1, 20);
});

test('a file with mistakes changes nothing; what needs a restart is named', async () => {
  const scene = await reloadScene();
  const { config, reload, gateway } = scene;
  const wrong = withAcme(
    { ...config, delivery: { ...config.delivery, concurrency: 0 } as never },
    (shop) => ({
      ...shop,
      sms: { ...shop.sms, twilio: { ...shop.sms.twilio, authTokens: [NEW_TOKEN] } },
    }),
  );
  expect(await reload(wrong)).toMatchObject({ message: 'config.refused', mistakes: 1 });
  await waitFor(
    'the report',
    () => /delivery\.concurrency[\s\S]*expected/.test(gateway.tail()),
    20,
  );
  expect(gateway.tail()).not.toContain(NEW_TOKEN);
  expect(await scene.text('as before', { token: AUTH_TOKEN })).toBe(200);

  const elsewhere = {
    ...config,
    smtp: { ...config.smtp, port: config.smtp.port + 1 },
    log: { level: 'debug', format: 'json' },
  };
  expect(await reload(elsewhere)).toMatchObject({
    changed: 'log.level',
    needsRestart: 'smtp.port',
  });
  expect(await reload({ ...elsewhere, shops: [] })).toMatchObject({
    changed: '',
    needsRestart: 'shops, smtp.port',
  });
  expect(await scene.text('still there', { token: AUTH_TOKEN })).toBe(200);
  expect(await (await scene.greeted()).say('NOOP')).toMatch(/^250/);
  expect(await gateway.terminate()).toMatchObject({ code: 0 });
});
