import { isIP } from 'node:net';
import { isPublicAddress } from '../../runtime/ip-addresses.ts';
import { type Answer, type CheckResult, verdicts } from './check.ts';

/**
 * Whether Twilio can call this URL, and whether its signatures will match it: they are made of the
 * URL as it is set at Twilio, and checked against `http.publicUrl`.
 */
export function checkPublicUrl(publicUrl: string): CheckResult {
  const { ok, warning, failed } = verdicts(
    'public-url',
    'http.publicUrl',
    'an https URL whose host the internet reaches, exactly as it is set at Twilio',
  );
  if (!URL.canParse(publicUrl)) return failed('not a URL', 'write https://<your host>');
  if (writesDefaultPort(publicUrl)) {
    return failed(`${publicUrl} writes the default port out`, 'leave the port out, here and there');
  }
  if (publicUrl.endsWith('/')) {
    return failed(`${publicUrl} ends with a slash`, 'leave the slash out');
  }
  if (!isReachable(publicUrl)) {
    return warning(
      `${publicUrl} is inside this machine or a private network: Twilio cannot reach it`,
      'set http.publicUrl to the name under which the internet reaches this gateway',
    );
  }
  if (new URL(publicUrl).protocol !== 'https:') {
    return warning(
      `${publicUrl} is not encrypted, and a redirect to https would lose the texts`,
      'put a proxy with TLS before the gateway and write https:// in http.publicUrl',
    );
  }
  return ok(`${publicUrl}; to set at Twilio, by POST: ${webhookUrl(publicUrl)}`);
}

/** Names that no public name server has (RFC 6761, RFC 6762, RFC 9476 and a name without a dot). */
const INNER_NAME = /^[^.]+$|\.(localhost|local|internal|lan|home\.arpa|alt)$/;

/** Whether the host may be one that Twilio reaches; what a public name resolves to is not asked. */
export function isReachable(publicUrl: string): boolean {
  const host = new URL(publicUrl).hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return isIP(host) === 0 ? !INNER_NAME.test(host) : isPublicAddress(host);
}

/**
 * Whether the public URL leads to the webhook, as seen from this machine: a GET there is answered
 * 405 with `Allow: POST`. Never worse than a warning: many networks do not let a machine reach its
 * own public address.
 */
export function checkReach(publicUrl: string, answer: Answer): CheckResult {
  const url = calledUrl(publicUrl);
  const { ok, warning } = verdicts('reach', 'webhook', `GET ${url} answers 405 with Allow: POST`);
  if ('failure' in answer) {
    return warning(answer.failure, cure(new URL(publicUrl).hostname, answer.code ?? ''));
  }
  const { status, headers } = answer;
  if (status === 405 && headers.get('allow') === 'POST') return ok('405 with Allow: POST');
  if (status >= 300 && status < 400) {
    return warning(
      `${status}, a redirect: Twilio signs the URL it called first, and texts are lost`,
      'set http.publicUrl to where the redirect leads, and the same URL at Twilio',
    );
  }
  if (status >= 502 && status <= 504) {
    return warning(
      `${status}: a proxy is there, the gateway behind it is not`,
      'start the gateway',
    );
  }
  return warning(
    `${status}: something else answers there`,
    "point the proxy at the gateway's http.port, and keep the path as it is",
  );
}

/** What Node names a certificate's faults by: OpenSSL's X509_V_ERR_…, and a name that it does not have. */
const UNTRUSTED = /CERT|SIGNATURE|^UNABLE_TO_/;

function cure(host: string, code: string): string {
  if (code === 'ENOTFOUND') {
    return `add an A or AAAA record for ${host} that leads to the proxy before the gateway`;
  }
  if (UNTRUSTED.test(code)) {
    return `give the proxy a certificate for ${host} from a public authority, with its whole chain`;
  }
  return 'start the proxy and the gateway; if they run, try this URL from outside';
}

const PATH = '/sms/twilio';

/**
 * Twilio tries an answer-less webhook once more and only when it cannot connect, unless the URL's
 * fragment says otherwise (Twilio, "Webhooks connection overrides"): five times, whatever failed.
 */
const OVERRIDES = '#rc=5&rp=all';
const RETRIES = '5';
const POLICY = 'all';

/** The URL that Twilio signs and calls: without the fragment, which stays at Twilio. */
export const calledUrl = (publicUrl: string): string => publicUrl.replace(/\/+$/, '') + PATH;

/** The URL to set at Twilio, for the webhook and for its fallback. */
export const webhookUrl = (publicUrl: string): string => calledUrl(publicUrl) + OVERRIDES;

/**
 * In which ways a URL that is set at Twilio is not the one to set; empty when it serves. Any
 * difference before the fragment makes another signature (Twilio, "Webhooks security"). Further
 * overrides, such as timeouts, are the operator's own.
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
    writesDefaultPort(set) && 'the default port is written out',
    pathDifference(url.pathname, wanted.pathname),
    withoutFragment.includes('?') && 'a query',
  ].filter((each) => each !== false);
  if (different.length === 0 && withoutFragment !== wanted.href) different.push('another spelling');
  return asksForRetries(url.hash) ? different : [...different, `without ${OVERRIDES}`];
}

/** A browser leaves `:443` out of an address; Twilio signs what was typed. */
export const writesDefaultPort = (url: string): boolean =>
  /^https:\/\/[^/?#]*:443(?![0-9])|^http:\/\/[^/?#]*:80(?![0-9])/i.test(url);

const scheme = (url: URL): string => url.protocol.replace(':', '');

function pathDifference(path: string, wanted: string): string | false {
  if (path === wanted) return false;
  if (path.replace(/\/+$/, '') === wanted) return 'a trailing slash';
  return path.replace(/\/{2,}/g, '/') === wanted ? 'a doubled slash' : 'another path';
}

function asksForRetries(fragment: string): boolean {
  const overrides = new URLSearchParams(fragment.replace(/^#/, ''));
  const policies = (overrides.get('rp') ?? '').split(',');
  return overrides.get('rc') === RETRIES && policies.includes(POLICY);
}

/**
 * A URL as it may be printed. What was set at Twilio may belong to another system, with a password
 * before its host or a key in its query.
 */
export function shownUrl(url: string): string {
  if (url.trim() === '') return '(nothing)';
  return url
    .replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1[hidden]@')
    .replace(/([?&;][^=&#]*(?:token|key|secret|pass|auth|sig|pwd)[^=&#]*=)[^&#]*/gi, '$1[hidden]')
    .slice(0, 500);
}
