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
