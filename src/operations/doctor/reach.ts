import type { Answer } from './answer.ts';
import { type CheckResult, verdicts } from './check-result.ts';
import { calledUrl } from './webhook-url.ts';

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
