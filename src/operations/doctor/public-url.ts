import { isIP } from 'node:net';
import { isPublicAddress } from '../../runtime/public-address.ts';
import { type CheckResult, verdicts } from './check-result.ts';
import { webhookUrl, writesDefaultPort } from './webhook-url.ts';

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
