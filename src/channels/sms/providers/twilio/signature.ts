// Only this module: the package's root loads the whole REST client. Never its `webhook()`, which
// lets an environment variable stand in for the token.
import { validateRequest, validateRequestWithBody } from 'twilio/lib/webhooks/webhooks.js';
import type { FormFields } from '../../form.ts';

/** What was signed: a form's parameters, or a JSON body by its hash in the URL's `bodySHA256`. */
export type SignedContent =
  | { readonly kind: 'form'; readonly fields: FormFields }
  | { readonly kind: 'json'; readonly body: Buffer };

/**
 * Whether one of these tokens signed the request (Twilio, "Webhooks security"). The library
 * tries the URL with and without its port, since Twilio's services differ in which they sign.
 * A user and password are dropped before Twilio signs ("Security", notes on validating requests),
 * which the library leaves to its caller.
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
  // Without the hash the signature would say nothing about the body.
  if (!new URL(url).searchParams.get('bodySHA256')) return false;
  const body = content.body.toString('utf8');
  return signed((token, candidate) => validateRequestWithBody(token, signature, candidate, body));
}

/**
 * The URL as it may stand in a log: no user or password, bounded. Of its query the names alone, since
 * whoever sends it chooses what is in it, and a webhook set to GET has the whole message there.
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
