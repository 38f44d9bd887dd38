import { isIP } from 'node:net';
import { isPublicAddress } from '../../runtime/ip-addresses.ts';
import { type Answer, type CheckResult, resultsFor } from './check.ts';
import { withoutEnd } from '../../runtime/without-end.ts';

/**
 * Whether a provider can call this URL and whether signatures will match. Twilio signs the URL set
 * in its console; the gateway verifies against `http.publicUrl`.
 * @param providers where the shops have numbers
 */
export function checkPublicUrl(
  publicUrl: string,
  providers: readonly WebhookProvider[] = [TWILIO],
): CheckResult {
  const at = providers.map(({ title }) => title).join(' and ');
  const { ok, warning, failed } = resultsFor(
    'public-url',
    'http.publicUrl',
    `an https URL that is reachable from the internet, identical to the one set at ${at}`,
  );
  if (!URL.canParse(publicUrl)) return failed('not a URL', 'set it to https://<your host>');
  if (hasDefaultPort(publicUrl)) {
    return failed(`${publicUrl} includes the default port`, `remove the port, here and at ${at}`);
  }
  if (publicUrl.endsWith('/')) {
    return failed(`${publicUrl} ends with a slash`, 'remove the slash');
  }
  if (!isReachable(publicUrl)) {
    return warning(
      `${publicUrl} is local or private: ${at} cannot reach it`,
      'set http.publicUrl to the public URL of this gateway',
    );
  }
  if (new URL(publicUrl).protocol !== 'https:') {
    return warning(
      `${publicUrl} is not encrypted, and messages would be lost in a redirect to https`,
      'put a TLS proxy in front of the gateway and set http.publicUrl to its https URL',
    );
  }
  const toSet = providers.map(
    (provider) =>
      `to be entered at ${provider.title}${provider.how}: ${urlToSet(publicUrl, provider)}`,
  );
  return ok([publicUrl, ...toSet].join('; '));
}

/** Whether customers can open links that start with this URL. */
export function checkLinks(publicUrl: string): CheckResult {
  const { ok, warning, failed } = resultsFor(
    'public-url',
    'http.publicUrl',
    'a URL that customers can open: the links in emails to chat visitors start with it',
  );
  if (!URL.canParse(publicUrl)) return failed('not a URL', 'set it to https://<your host>');
  if (isReachable(publicUrl)) return ok(publicUrl);
  return warning(
    `${publicUrl} is local or private: customers cannot open it`,
    'set http.publicUrl to the public URL of this gateway',
  );
}

/** Names without public DNS records (RFC 6761, RFC 6762, RFC 9476, and names without a dot). */
const PRIVATE_NAME = /^[^.]+$|\.(localhost|local|internal|lan|home\.arpa|alt)$/;

/** Whether a provider may be able to reach the host; public names are not resolved. */
export function isReachable(publicUrl: string): boolean {
  const host = new URL(publicUrl).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return isIP(host) === 0 ? !PRIVATE_NAME.test(host) : isPublicAddress(host);
}

/**
 * Whether the public URL leads to the webhook, as seen from this machine: a GET request there has
 * an answer with the header `Allow`. At most a warning, since many networks prevent a machine
 * from reaching its own public address.
 */
export function checkReach(
  publicUrl: string,
  answer: Answer,
  provider: WebhookProvider = TWILIO,
): CheckResult {
  const url = calledUrl(publicUrl, provider);
  const expected = `${provider.answer.status} with Allow: ${provider.answer.allow}`;
  const { ok, warning } = resultsFor('reach', 'webhook', `status ${expected} for GET ${url}`);
  if ('failure' in answer) {
    return warning(answer.failure, todoFor(new URL(publicUrl).hostname, answer.code ?? ''));
  }
  const { status, headers } = answer;
  const { answer: ours } = provider;
  if (status === ours.status && headers.get('allow') === ours.allow) return ok(expected);
  if (status >= 300 && status < 400) {
    return warning(
      `${status}, a redirect, which ${provider.title} does not follow, so messages are lost`,
      `set http.publicUrl and the URL at ${provider.title} to the target of the redirect`,
    );
  }
  if (status >= 502 && status <= 504) {
    return warning(
      `${status}: a proxy responds, but not the gateway behind it`,
      'start the gateway',
    );
  }
  return warning(
    `${status}: another server responds`,
    "configure the proxy to forward to the gateway's http.port without changing the path",
  );
}

/** Node's codes for certificate errors: OpenSSL's X509_V_ERR_…, and further ones of its own. */
const UNTRUSTED = /CERT|SIGNATURE|^UNABLE_TO_/;

function todoFor(host: string, code: string): string {
  if (code === 'ENOTFOUND') {
    return `add an A or AAAA record for ${host} with the address of the proxy in front of the gateway`;
  }
  if (UNTRUSTED.test(code)) {
    return `install a certificate for ${host} from a public authority on the proxy, with its full chain`;
  }
  return 'start the proxy and the gateway; if both are running, request this URL from another network';
}

/** A provider of texts, as its webhook is set. */
export interface WebhookProvider {
  readonly title: string;
  readonly path: string;
  /** What is to be set besides the URL. */
  readonly how: string;
  /** How the gateway answers a GET there: 405, or 403 if the provider checks the URL by one. */
  readonly answer: { readonly status: number; readonly allow: string };
}

const POST_ONLY = { status: 405, allow: 'POST' };

export const TWILIO: WebhookProvider = {
  title: 'Twilio',
  path: '/sms/twilio',
  how: ', with method POST',
  answer: POST_ONLY,
};
export const TELNYX: WebhookProvider = {
  ...{ title: 'Telnyx', path: '/sms/telnyx', how: '', answer: POST_ONLY },
};
export const WHATSAPP: WebhookProvider = {
  title: 'Meta',
  path: '/sms/whatsapp',
  how: ', with the verify token, subscribed to messages',
  answer: { status: 403, allow: 'GET, POST' },
};

/**
 * By default Twilio retries a webhook once, and only after a failed connection. The fragment of the
 * URL requests five retries after any failure (Twilio, "Webhooks connection overrides").
 */
const OVERRIDES = '#rc=5&rp=all';
const RETRIES = '5';
const POLICY = 'all';

/** The URL that the provider calls: Twilio does not send the fragment, nor sign it. */
export const calledUrl = (publicUrl: string, { path }: WebhookProvider = TWILIO): string =>
  withoutEnd(publicUrl, /\//) + path;

/** The URL to set at a provider. */
export const urlToSet = (publicUrl: string, provider: WebhookProvider): string =>
  provider === TWILIO ? webhookUrl(publicUrl) : calledUrl(publicUrl, provider);

/** The URL to set at Twilio, for the webhook and for its fallback. */
export const webhookUrl = (publicUrl: string): string => calledUrl(publicUrl) + OVERRIDES;

/**
 * How a URL set at Twilio differs from the required one; empty when it works. Any difference before
 * the fragment changes the signature (Twilio, "Webhooks security"). Further overrides, such as
 * timeouts, are allowed.
 */
export function differences(set: string, publicUrl: string): string[] {
  if (set.trim() === '') return ['not set'];
  if (!URL.canParse(set)) return ['not a URL'];
  const url = new URL(set);
  const wanted = new URL(calledUrl(publicUrl));
  const [withoutFragment = ''] = set.split('#', 1);
  const different = [
    url.protocol !== wanted.protocol && `${scheme(url)} instead of ${scheme(wanted)}`,
    (url.username !== '' || url.password !== '') && 'a user name or password in it',
    url.hostname !== wanted.hostname && 'another host',
    url.protocol === wanted.protocol && url.port !== wanted.port && 'another port',
    hasDefaultPort(set) && 'the default port',
    pathDifference(url.pathname, wanted.pathname),
    withoutFragment.includes('?') && 'a query',
  ].filter((each) => each !== false);
  if (different.length === 0 && withoutFragment !== wanted.href)
    different.push('different spelling');
  return asksForRetries(url.hash) ? different : [...different, `without ${OVERRIDES}`];
}

/** Browsers omit `:443`; Twilio signs the URL as entered. */
export const hasDefaultPort = (url: string): boolean =>
  /^(?:https:\/\/[^/?#]*:443|http:\/\/[^/?#]*:80)(?:[/?#]|$)/i.test(url);

const scheme = (url: URL): string => url.protocol.replace(':', '');

function pathDifference(path: string, wanted: string): string | false {
  if (path === wanted) return false;
  if (withoutEnd(path, /\//) === wanted) return 'a trailing slash';
  return path.replace(/\/{2,}/g, '/') === wanted ? 'a doubled slash' : 'another path';
}

function asksForRetries(fragment: string): boolean {
  const overrides = new URLSearchParams(fragment.replace(/^#/, ''));
  const policies = (overrides.get('rp') ?? '').split(',');
  return overrides.get('rc') === RETRIES && policies.includes(POLICY);
}

const MAY_BE_SECRET = /token|key|secret|pass|auth|sig|pwd/i;

/**
 * A URL that is safe to print. A URL set at Twilio may belong to another system and contain a
 * password or a key.
 */
export function shownUrl(url: string): string {
  if (url.trim() === '') return '(nothing)';
  return url
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1[hidden]@')
    .replace(/[?&;]([^=?&;#]*)=[^&#]*/g, (parameter, name: string) =>
      MAY_BE_SECRET.test(parameter) ? `${parameter.charAt(0)}${name}=[hidden]` : parameter,
    )
    .slice(0, 500);
}
