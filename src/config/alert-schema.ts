import { z } from 'zod';
import { canonicalAddress } from '../domain/email-addresses.ts';
import { field } from './field.ts';
import { relayUrl } from './network-fields.ts';
import { bytes, choice, duration, path, whole } from './scalar-fields.ts';
import { Secret } from './secret.ts';

/** The URL is a secret as a whole: anyone who has it can post to the webhook. */
const webhookUrl = () =>
  field(
    {
      expected: 'the https:// URL of an incoming webhook, as Slack gives it',
      example: '"${ALERTS_WEBHOOK_URL}"',
      secret: true,
      shown: (value) => /^[a-z]+:\/\//i.exec(value)?.[0].concat(' and more (not shown)'),
    },
    (value) => (isWebhook(value) ? new Secret(value) : undefined),
  );

function isWebhook(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname, username, password } = new URL(value);
  // fetch refuses credentials in a URL.
  return /^https?:$/.test(protocol) && hostname !== '' && username === '' && password === '';
}

const mailAddress = (example: string) =>
  field({ expected: 'an email address', example }, (value) => canonicalAddress(value));

/** When alerts fire and where they are sent. */
export const alertSchema = z.strictObject({
  every: duration('30s'),
  for: duration('30s'),
  settle: duration('1m'),
  group: duration('10s'),
  repeat: duration('4h'),
  webhook: z.strictObject({
    url: z.exactOptional(webhookUrl()),
    timeout: duration('10s'),
  }),
  email: z.strictObject({
    to: z.array(mailAddress('oncall@acme.example')),
    from: z.exactOptional(mailAddress('sluice@acme.example')),
    relay: z.exactOptional(relayUrl()),
    relayTls: choice('auto', 'required', 'off'),
    relayCa: z.exactOptional(path('/etc/ssl/private-ca.pem')),
  }),
  rules: z.strictObject({
    dead: whole(1, 1_000_000, 1),
    held: whole(1, 1_000_000, 1),
    breakerOpen: duration('1m'),
    refusedAlike: whole(1, 1_000_000, 5),
    oldestQueued: duration('10m'),
    certificate: duration('14d'),
    diskBelow: bytes(0, 1e15, 1_000_000_000),
    badSignaturesPer10min: whole(1, 1_000_000, 10),
  }),
});
