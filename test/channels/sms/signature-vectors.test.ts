import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ends } from '../../support/ends.ts';
import { type Pairs, encodeForm, postWebhook } from '../../support/twilio-stand-in.ts';
import { type RunningWebhook, startWebhook } from './running-door.ts';

/** Signed by Twilio's library for Python: test/fixtures/twilio/make-signatures.py. */
const vectors = z
  .array(
    z.strictObject({
      name: z.string(),
      publicUrl: z.url(),
      target: z.string(),
      type: z.enum(['form', 'json']),
      body: z.string(),
      signature: z.base64(),
      status: z.literal([200, 204]),
    }),
  )
  .parse(
    JSON.parse(
      readFileSync(new URL('../../fixtures/twilio/signatures.json', import.meta.url), 'utf8'),
    ),
  );

type Vector = (typeof vectors)[number];

/** A bit of the middle byte, so that the header stays base64. */
function otherSignature(signature: string): string {
  const bytes = Buffer.from(signature, 'base64');
  bytes.writeUInt8(bytes.readUInt8(10) ^ 1, 10);
  return bytes.toString('base64');
}

/** The lowest bit of the last code unit: half of a surrogate pair stays what it is. */
const otherText = (text: string): string =>
  text.slice(0, -1) + String.fromCharCode(text.charCodeAt(text.length - 1) ^ 1);

/** The last letter or digit of the query, one bit away from another letter or digit. */
function otherQuery(target: string): string | undefined {
  const at = target.search(/[a-z0-9][^a-z0-9]*$/i);
  if (at < target.indexOf('?') || !target.includes('?')) return undefined;
  const [other] = [1, 2, 4, 8]
    .map((bit) => String.fromCharCode(target.charCodeAt(at) ^ bit))
    .filter((character) => /[a-z0-9]/i.test(character));
  return other === undefined ? undefined : target.slice(0, at) + other + target.slice(at + 1);
}

/** One value that neither names the message nor says what kind it is. */
const ALTERED = ['Extra', 'MediaUrl9', 'AddOns', '__proto__', 'zip', 'Body_', 'Body', 'ApiVersion'];

function otherValue({ type, body }: Vector): string {
  if (type === 'json') return body.replace('2010-04-01', '2010-04-00');
  const pairs: Pairs = [...new URLSearchParams(body)];
  const name = ALTERED.find((each) => pairs.some(([key, value]) => key === each && value !== ''));
  const at = pairs.findLastIndex(([key, value]) => key === name && value !== '');
  return encodeForm(
    pairs.map(([key, value], index) => [key, index === at ? otherText(value) : value]),
  );
}

function send(webhook: RunningWebhook, { target, type, body, signature }: Vector) {
  return postWebhook({
    target: new URL(webhook.target).origin + target,
    body,
    signature,
    ...(type === 'json' && { headers: { 'Content-Type': 'application/json' } }),
  });
}

/** The vector with one bit changed, once for each place where there is one. */
function forgeries(vector: Vector): readonly (readonly [place: string, forged: Vector])[] {
  const target = otherQuery(vector.target);
  const body = otherValue(vector);
  expect(body).not.toBe(vector.body);
  return [
    ['the signature', { ...vector, signature: otherSignature(vector.signature) }],
    ['a value', { ...vector, body }],
    ...(target === undefined ? [] : [['the query', { ...vector, target }] as const]),
  ];
}

describe('what Twilio signed', () => {
  test('are as many vectors as the program makes, each with a name of its own', () => {
    expect(new Set(vectors.map(({ name }) => name)).size).toBe(vectors.length);
    expect(vectors.length).toBeGreaterThanOrEqual(24);
  });

  test.each(vectors)('is accepted, and not with one bit changed: $name', async (vector) => {
    const webhook = await startWebhook({ publicUrl: vector.publicUrl });
    ends(() => webhook.close());
    for (const [place, forged] of forgeries(vector)) {
      const { status } = await send(webhook, forged);
      expect({ place, status }).toEqual({ place, status: 403 });
    }
    expect(await webhook.store.spool.list({ limit: 10 })).toEqual([]);

    expect((await send(webhook, vector)).status).toBe(vector.status);
    const entries = await webhook.store.spool.list({ limit: 10 });
    expect(entries).toHaveLength(vector.status === 200 ? 1 : 0);
  });

  test('is refused under another public URL', async () => {
    const webhook = await startWebhook({ publicUrl: 'https://other.acme.example' });
    ends(() => webhook.close());
    for (const vector of vectors) {
      const { status } = await send(webhook, vector);
      expect({ name: vector.name, status }).toEqual({ name: vector.name, status: 403 });
    }
  });
});
