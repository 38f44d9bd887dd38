import type { MediaSource, MediaTarget } from '../../provider.ts';
import type { TwilioAccount } from './account.ts';
import { credentialsOf } from './transport.ts';
import { withoutEnd } from '../../../../runtime/without-end.ts';

/** Twilio's limit per message. */
export const MAX_MEDIA = 10;
const MEDIA_SID = /^ME[0-9a-fA-F]{32}$/;
/** `api.twilio.com`, or with an edge and a region: `api.dublin.ie1.twilio.com`. */
const API_HOST = /^api(\.[a-z0-9-]{1,32}){0,2}\.twilio\.com$/;
const TWILIO_HOST = /^([a-z0-9-]{1,63}\.)*(twilio\.com|twiliocdn\.com)$/;
/** Bucket names are unique in all of S3, and this one belongs to Twilio. */
const BUCKET = 'media.twiliocdn.com';
/**
 * S3's own endpoints, and no other service of that domain: customers choose the beginning of a load
 * balancer's host name (Amazon S3 endpoints and quotas).
 */
const S3_HOST =
  /^s3(-external-1|[.-](dualstack\.)?[a-z]{2}(-[a-z]{2,12}){1,2}-\d{1,2})?\.amazonaws\.com$/;

interface MediumAtTwilio {
  readonly mediaSid: string;
  readonly target: MediaTarget;
}

/**
 * Parses a MediaUrl. Credentials are sent to it, so it must be a URL of Twilio's API for a medium
 * of this message: a path of another account or message, a query, another host or port returns
 * undefined. If a base URL is configured, the path is requested there instead.
 */
export function readMediaUrl(
  value: string,
  message: { readonly accountSid: string; readonly messageSid: string },
  account: Pick<TwilioAccount, 'apiBaseUrl'>,
): MediumAtTwilio | undefined {
  if (value.length > 2048 || !URL.canParse(value)) return undefined;
  const url = new URL(value);
  const base = proxyOf(account);
  if (url.origin !== base?.origin && !isTwilioApi(url)) return undefined;
  const folder = `/2010-04-01/Accounts/${message.accountSid}/Messages/${message.messageSid}/Media/`;
  const mediaSid = url.pathname.slice(folder.length);
  // Compares the raw URL rather than the parsed one: no userinfo, dot segments, query or fragment.
  if (!MEDIA_SID.test(mediaSid) || value !== `${url.origin}${folder}${mediaSid}`) return undefined;
  if (base === undefined) return { mediaSid, target: { url, trusted: false } };
  const prefix = withoutEnd(base.pathname, /\//);
  return {
    mediaSid,
    target: { url: new URL(`${prefix}${folder}${mediaSid}`, base), trusted: true },
  };
}

const isTwilioApi = (url: URL): boolean =>
  url.protocol === 'https:' && url.port === '' && API_HOST.test(url.hostname);

/**
 * The configured base URL, if it replaces Twilio's API. If it is Twilio's own, as by default, each
 * MediaUrl is requested in its own region, and no address is trusted.
 */
function proxyOf({ apiBaseUrl }: Pick<TwilioAccount, 'apiBaseUrl'>): URL | undefined {
  if (apiBaseUrl === undefined) return undefined;
  const base = new URL(apiBaseUrl);
  return isTwilioApi(base) ? undefined : base;
}

/**
 * The target of a redirect: another host of Twilio, its storage, or the host of the configured base
 * URL; undefined for any other host.
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

/** Where a medium of this message is fetched, with the account's credentials. */
export function twilioMedium(
  value: string,
  message: { readonly accountSid: string; readonly messageSid: string },
  account: TwilioAccount,
): MediaSource | undefined {
  const found = readMediaUrl(value, message, account);
  if (found === undefined) return undefined;
  const [credential] = credentialsOf(account);
  return {
    id: found.mediaSid,
    target: found.target,
    credential,
    redirect: (location, from) => readRedirect(location, from, account),
  };
}
