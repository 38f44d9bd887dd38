// Only this module, because the package's root loads the whole REST client. Its `webhook()` is
// never used, since it accepts an environment variable instead of the token.
import {
  HMAC_SHA1,
  HMAC_SHA256,
  validateRequest,
  validateRequestWithBody,
} from 'twilio/lib/webhooks/webhooks.js';
import type { DeliveryStatus, ProviderWebhook } from '../../provider.ts';
import { contentTypeOf, withoutUserinfo } from '../../webhook-request.ts';
import type { TwilioShopAccount } from './account.ts';
import {
  FormFields,
  type FormPairs,
  messageStatus,
  parseJson,
  parseUrlencoded,
  readIdentity,
  readSids,
} from './form.ts';
import { OPT_OUT_CODE, wordsOfCode } from './error-words.ts';
import { receivedText } from './texts.ts';

const JSON_TYPE = 'application/json';

/**
 * Twilio's webhook: a form, or JSON. The response to a message has a body that Twilio interprets as
 * TwiML: any text in it would be sent to the customer.
 */
export const twilioWebhook: ProviderWebhook<TwilioShopAccount> = {
  name: 'twilio',
  contentTypes: ['application/x-www-form-urlencoded', JSON_TYPE],
  optOutCode: OPT_OUT_CODE,
  accepted: { type: 'text/xml', body: '<?xml version="1.0" encoding="UTF-8"?><Response/>' },
  read: (request) => {
    const json = contentTypeOf(request.headers) === JSON_TYPE;
    const pairs = json ? parseJson(request.body) : parseUrlencoded(request.body);
    const fields = new FormFields(pairs);
    const signed: SignedContent = json
      ? { kind: 'json', body: request.body }
      : { kind: 'form', fields };
    const signature = request.headers['x-twilio-signature'];
    const sharedKey = sharedKeyOf(request.headers[SETTINGS]);
    return {
      contents: [contentOf(fields, pairs)],
      isSignedBy: (account) =>
        request.url !== undefined &&
        typeof signature === 'string' &&
        isSigned(secretsOf(account, sharedKey), signature, request.url, signed, sharedKey),
      unsigned: signature === undefined ? 'missing' : 'wrong',
      ...(sharedKey && { sharedKey: sharedKey.sid }),
    };
  },
};

/** @throws {BadParameter} */
function contentOf(fields: FormFields, pairs: FormPairs) {
  const status = messageStatus(fields);
  if (status === undefined) {
    return { kind: 'message', text: receivedText(readIdentity(fields), pairs) } as const;
  }
  // It is about one of our messages, so its `To` is the customer.
  const { accountSid: account, messageSid: id } = readSids(fields);
  const [ours, theirs] = [fields.first('From'), fields.first('To')];
  return {
    ...({ kind: 'status', account, id } as const),
    statuses: [deliveryStatus(status, fields)],
    ...(ours !== undefined && theirs !== undefined && { between: { ours, theirs } }),
  };
}

const STATES: Readonly<Record<string, DeliveryStatus['state']>> = {
  sent: 'sent',
  delivered: 'delivered',
  read: 'read',
  undelivered: 'failed',
  failed: 'failed',
  canceled: 'failed',
};

function deliveryStatus(status: string, fields: FormFields): DeliveryStatus {
  const state = STATES[status];
  const [code = ''] = fields.all('ErrorCode');
  if (state !== 'failed' || !/^\d{1,6}$/.test(code)) return { status, state };
  const reason = wordsOfCode(code);
  return { status, state, code, ...(reason !== undefined && { reason }) };
}

/** Present when a rule of the account signs with a shared key: `key=SK…,algorithm=HMAC_SHA256`. */
const SETTINGS = 'x-twilio-webhooks-signature-settings';
const ALGORITHMS: readonly string[] = [HMAC_SHA1, HMAC_SHA256];

/** The key and the algorithm with which a request says that it is signed. */
interface SharedKey {
  /** Empty if the header cannot be read: no key is called so. */
  readonly sid: string;
  readonly algorithm: string;
}

/** Undefined without the header: the request is signed with an auth token. */
function sharedKeyOf(header: string | readonly string[] = ''): SharedKey | undefined {
  if (header === '') return undefined;
  const parts = header.slice(0, 300).toString().split(',');
  const given = new Map(
    parts.map((part) => {
      const [name = '', value = ''] = part.split('=');
      return [name.trim().toLowerCase(), value.trim()];
    }),
  );
  const [sid = '', algorithm = ''] = [given.get('key'), given.get('algorithm')?.toUpperCase()];
  const isReadable = parts.length === 2 && ALGORITHMS.includes(algorithm) && /^[\w-]+$/.test(sid);
  return isReadable ? { sid, algorithm } : { sid: '', algorithm: HMAC_SHA1 };
}

/** The secrets that may have signed a request. A shared key is never replaced by a token. */
const secretsOf = (
  { authTokens, sharedKeys = [] }: TwilioShopAccount,
  sharedKey: SharedKey | undefined,
): readonly string[] =>
  sharedKey === undefined
    ? authTokens
    : sharedKeys.filter(({ sid }) => sid === sharedKey.sid).map(({ secret }) => secret);

/**
 * The signed content: a form's parameters, or a JSON body by its hash in the URL's `bodySHA256`.
 */
type SignedContent =
  | { readonly kind: 'form'; readonly fields: FormFields }
  | { readonly kind: 'json'; readonly body: Buffer };

/**
 * Whether one of these secrets signed the request (Twilio, "Webhooks security"). The library tries
 * the URL with and without its port, because Twilio's services differ in which one they sign.
 * Twilio removes user and password before signing ("Security", notes on validating requests), which
 * the library leaves to its caller.
 * @param url the public URL as configured at Twilio, with the raw query; never built from Host
 */
function isSigned(
  secrets: readonly string[],
  signature: string,
  url: string,
  content: SignedContent,
  { algorithm = HMAC_SHA1 }: Partial<SharedKey> = {},
): boolean {
  const urls = [...new Set([withoutUserinfo(url), url])];
  const signed = (valid: (secret: string, candidate: string) => boolean): boolean =>
    secrets.some((secret) => urls.some((candidate) => valid(secret, candidate)));
  if (content.kind === 'form') {
    const params = content.fields.signed();
    return signed((secret, candidate) =>
      validateRequest(secret, signature, candidate, params, algorithm),
    );
  }
  // Without the hash, the signature would not cover the body.
  if (!new URL(url).searchParams.get('bodySHA256')) return false;
  const body = content.body.toString('utf8');
  return signed((secret, candidate) =>
    validateRequestWithBody(secret, signature, candidate, body, algorithm),
  );
}
