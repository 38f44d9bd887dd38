import type { TwilioAccount } from '../../../channels/sms/shop.ts';
import { type CheckResult, verdicts } from '../check-result.ts';

/** A way to prove who we are, by its name in the configuration. */
export interface Credential {
  readonly name: 'apiKeySid' | `authTokens[${number}]`;
  readonly username: string;
  readonly password: string;
}

/** All that are configured, the one that calls of the API use first. */
export function credentialsOf(account: TwilioAccount): Credential[] {
  const { accountSid, apiKeySid, apiKeySecret } = account;
  const tokens = account.authTokens.map((token, index) => ({
    name: `authTokens[${index}]` as const,
    username: accountSid,
    password: token,
  }));
  if (apiKeySid === undefined || apiKeySecret === undefined) return tokens;
  return [{ name: 'apiKeySid', username: apiKeySid, password: apiKeySecret }, ...tokens];
}

export type Acceptance =
  | { readonly kind: 'accepted' }
  /** `forbidden`: accepted, and not allowed to read numbers. */
  | { readonly kind: 'refused' | 'forbidden' | 'unreachable' | 'other'; readonly said: string };

export interface TriedCredential {
  readonly credential: Pick<Credential, 'name'>;
  readonly acceptance: Acceptance;
}

/**
 * An API key reads the API; a text's signature is made with the account's auth token, so the
 * tokens are tried too: with a wrong one every text is answered 403.
 * @param tried in the order of `credentialsOf`
 */
export function checkCredentials(shop: string, tried: readonly TriedCredential[]): CheckResult[] {
  const someToken = tried.some(
    ({ credential, acceptance }) => isToken(credential) && acceptance.kind === 'accepted',
  );
  return tried.map(({ credential, acceptance }, index) => {
    const { ok, warning, failed } = verdicts(
      'twilio.credentials',
      `${shop} ${credential.name}`,
      'accepted by Twilio for this account',
    );
    switch (acceptance.kind) {
      case 'accepted':
        return ok('accepted');
      case 'forbidden':
        return warning(
          `${acceptance.said}: it may not read phone numbers`,
          'allow the key to read and update phone numbers and messaging services, for these checks',
        );
      case 'refused':
        // The first is what media are fetched with; a further token is there for a rotation.
        return isToken(credential) && someToken && index > 0
          ? warning(acceptance.said, 'remove this token once the rotation is over')
          : failed(acceptance.said, whatToSet(credential));
      case 'unreachable':
      case 'other':
        return failed(
          acceptance.said,
          'check that this machine reaches sms.twilio.baseUrl, and that accountSid is right',
        );
    }
  });
}

const isToken = ({ name }: Pick<Credential, 'name'>): boolean => name !== 'apiKeySid';

const whatToSet = (credential: Pick<Credential, 'name'>): string =>
  isToken(credential)
    ? "set sms.twilio.accountSid and authTokens to the account's SID and its primary auth token, " +
      "from the first page of Twilio's console"
    : "set sms.twilio.apiKeySid and apiKeySecret to a key of this account: Twilio's console, " +
      'Account, API keys & tokens';
