import type { TwilioAccount } from '../../shop.ts';

const MEDIA_SID = /^ME[0-9a-fA-F]{32}$/;
/** `api.twilio.com`, or with an edge and a region: `api.dublin.ie1.twilio.com`. */
const API_HOST = /^api(\.[a-z0-9-]{1,32}){0,2}\.twilio\.com$/;
const TWILIO_HOST = /^([a-z0-9-]{1,63}\.)*(twilio\.com|twiliocdn\.com)$/;
/** Bucket names are unique in all of S3: this one is Twilio's. */
const BUCKET = 'media.twiliocdn.com';
/**
 * S3's own endpoints, and no other service of that domain: who runs a load balancer there chooses
 * how its host begins (Amazon S3 endpoints and quotas).
 */
const S3_HOST =
  /^s3(-external-1|[.-](dualstack\.)?[a-z]{2}(-[a-z]{2,12}){1,2}-\d{1,2})?\.amazonaws\.com$/;

/** Where a request may go. */
export interface MediaTarget {
  readonly url: URL;
  /** The host stands in the configuration: its address may be private. */
  readonly trusted: boolean;
}

export interface MediaReference {
  readonly mediaSid: string;
  readonly target: MediaTarget;
}

/**
 * Reads a MediaUrl. Credentials are sent there, so it must be Twilio's API and name a medium of
 * this very message: a path of another account or message, a query, another host or port is
 * refused with undefined. With a base URL configured, the path is asked for there instead.
 */
export function readMediaUrl(
  value: string,
  message: { readonly accountSid: string; readonly messageSid: string },
  account: Pick<TwilioAccount, 'apiBaseUrl'>,
): MediaReference | undefined {
  if (value.length > 2048 || !URL.canParse(value)) return undefined;
  const url = new URL(value);
  const base = proxyOf(account);
  if (url.origin !== base?.origin && !isTwilioApi(url)) return undefined;
  const folder = `/2010-04-01/Accounts/${message.accountSid}/Messages/${message.messageSid}/Media/`;
  const mediaSid = url.pathname.slice(folder.length);
  // The URL as written, not as the parser would mend it: no userinfo, dots, query or fragment.
  if (!MEDIA_SID.test(mediaSid) || value !== `${url.origin}${folder}${mediaSid}`) return undefined;
  if (base === undefined) return { mediaSid, target: { url, trusted: false } };
  const prefix = base.pathname.replace(/\/+$/, '');
  return {
    mediaSid,
    target: { url: new URL(`${prefix}${folder}${mediaSid}`, base), trusted: true },
  };
}

const isTwilioApi = (url: URL): boolean =>
  url.protocol === 'https:' && url.port === '' && API_HOST.test(url.hostname);

/**
 * The configured base URL when it stands for Twilio's API. When it is Twilio's own, as by default,
 * each MediaUrl is asked for in its own region, and no address is trusted.
 */
function proxyOf({ apiBaseUrl }: Pick<TwilioAccount, 'apiBaseUrl'>): URL | undefined {
  if (apiBaseUrl === undefined) return undefined;
  const base = new URL(apiBaseUrl);
  return isTwilioApi(base) ? undefined : base;
}

/**
 * Where a redirect leads: another host of Twilio's, its storage, or the configured base URL's
 * host; undefined for anywhere else.
 */
export function readRedirect(
  location: string,
  from: URL,
  account: Pick<TwilioAccount, 'apiBaseUrl'>,
): MediaTarget | undefined {
  if (location.length > 8192 || !URL.canParse(location, from.href)) return undefined;
  const url = new URL(location, from);
  if (url.username !== '' || url.password !== '') return undefined;
  if (url.origin === proxyOf(account)?.origin) return { url, trusted: true };
  if (url.protocol !== 'https:' || url.port !== '') return undefined;
  const inBucket =
    (S3_HOST.test(url.hostname) && url.pathname.startsWith(`/${BUCKET}/`)) ||
    (url.hostname.startsWith(`${BUCKET}.s3`) &&
      S3_HOST.test(url.hostname.slice(BUCKET.length + 1)));
  return inBucket || TWILIO_HOST.test(url.hostname) ? { url, trusted: false } : undefined;
}
