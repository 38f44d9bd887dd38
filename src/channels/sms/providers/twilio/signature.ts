// Only this module, because the package's root loads the whole REST client. Its `webhook()` is
// never used, since it accepts an environment variable instead of the token.
import { validateRequest, validateRequestWithBody } from 'twilio/lib/webhooks/webhooks.js';
import type { FormFields } from '../../form.ts';

/**
 * The signed content: a form's parameters, or a JSON body by its hash in the URL's `bodySHA256`.
 */
export type SignedContent =
  | { readonly kind: 'form'; readonly fields: FormFields }
  | { readonly kind: 'json'; readonly body: Buffer };

/**
 * Whether one of these tokens signed the request (Twilio, "Webhooks security"). The library tries
 * the URL with and without its port, because Twilio's services differ in which one they sign.
 * Twilio removes user and password before signing ("Security", notes on validating requests), which
 * the library leaves to its caller.
 * @param url the public URL as configured at Twilio, with the raw query; never built from Host
 */
export function isSigned(
  authTokens: readonly string[],
  signature: string,
  url: string,
  content: SignedContent,
): boolean {
  const urls = [...new Set([withoutUserinfo(url), url])];
  const signed = (valid: (token: string, candidate: string) => boolean): boolean =>
    authTokens.some((token) => urls.some((candidate) => valid(token, candidate)));
  if (content.kind === 'form') {
    const params = content.fields.signed();
    return signed((token, candidate) => validateRequest(token, signature, candidate, params));
  }
  // Without the hash, the signature would not cover the body.
  if (!new URL(url).searchParams.get('bodySHA256')) return false;
  const body = content.body.toString('utf8');
  return signed((token, candidate) => validateRequestWithBody(token, signature, candidate, body));
}

/**
 * The URL in a form that may be logged: without user and password, and of limited length. Only the
 * names in its query are shown, because the client chooses the values, and a webhook that is set to
 * GET has the whole message in it.
 */
export function loggableUrl(url: string): string {
  return withoutUserinfo(url)
    .replace(/([?&][^=&#]{0,100})[^&#]*/g, (part, name: string) =>
      part === name ? name : `${name}=...`,
    )
    .slice(0, 500);
}

const withoutUserinfo = (url: string): string =>
  url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1');
