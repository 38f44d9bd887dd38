import { expect, test } from '@jest/globals';
import { INBOUND_TOKEN, INBOX } from '../support/gateway-config.ts';
import { anEmail } from '../support/gateway-setting.ts';
import { waitFor } from '../support/wait-for.ts';
import { scene } from './scene.ts';

test('a message that is posted to /email/inbound reaches the platform like one by SMTP', async () => {
  const { gateway, platform } = await scene();
  const post = () =>
    fetch(`${gateway.httpUrl}/email/inbound?from=ann@example.com&to=${INBOX}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${INBOUND_TOKEN}`, 'content-type': 'message/rfc822' },
      body: anEmail('posted', 'Where is my order?'),
    });
  const first = await post();
  expect(first.status).toBe(202);
  expect((await post()).status).toBe(200);
  await waitFor('the platform to have it', () => platform.messages.length > 0);
  expect(platform.payloads.map(({ message }) => message)).toEqual([
    expect.objectContaining({ remote_id: '<posted@example.com>', content: 'Where is my order?' }),
  ]);
  const stranger = await fetch(`${gateway.httpUrl}/email/inbound`, { method: 'POST' });
  expect(stranger.status).toBe(401);
});
