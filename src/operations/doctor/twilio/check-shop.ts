import type { TwilioAccount } from '../../../channels/sms/providers/twilio/account.ts';
import {
  type Credential,
  credentialsOf,
} from '../../../channels/sms/providers/twilio/transport.ts';
import { type Change, type CheckResult, resultsFor } from '../check.ts';
import { isReachable } from '../public-url.ts';
import {
  type ConnectedAccount,
  connectAccount,
  type MessagingService,
  type Sender,
  TwilioTrouble,
} from './account.ts';
import {
  changesBetween,
  checkNumber,
  checkService,
  type Handler,
  neededChanges,
  type NumberLookup,
  numberSkipped,
  servicesUnknown,
  whyNotLookedUp,
} from './inbound.ts';

export interface TwilioCheckOptions {
  readonly publicUrl: string;
  /** Corrects the settings of numbers; otherwise nothing is changed. */
  readonly fix: boolean;
  /** For one call. */
  readonly timeoutMs: number;
}

/** A shop with numbers at Twilio. */
export interface TwilioShop {
  readonly name: string;
  readonly numbers: readonly string[];
  readonly messagingServiceSids?: readonly string[];
  readonly twilio: TwilioAccount;
}

/** Checks the credentials, numbers and messaging services of one shop. */
export async function checkTwilioShop(
  shop: TwilioShop,
  options: TwilioCheckOptions,
): Promise<CheckResult[]> {
  const { account, results } = await connect(shop, options);
  if (account === undefined) {
    const untried = 'not checked: no credential may read numbers';
    const notes = shop.numbers.map((number) => numberSkipped(shop.name, number, untried));
    return [...results, ...notes];
  }
  const services = await attempt(() => account.services());
  if (services instanceof TwilioTrouble) {
    const configured = (shop.messagingServiceSids ?? []).length > 0;
    results.push(servicesUnknown(shop.name, configured, services.message));
  }
  const known = services instanceof TwilioTrouble ? [] : services;
  const involved = new Set(services instanceof TwilioTrouble ? [] : shop.messagingServiceSids);
  for (const number of shop.numbers) {
    const reason = whyNotLookedUp(number);
    if (reason !== undefined) {
      results.push(numberSkipped(shop.name, number, reason));
      continue;
    }
    const lookup = await lookUp(account, number, known);
    if (lookup.kind === 'there' && lookup.handler.kind === 'service')
      involved.add(lookup.handler.sid);
    results.push(...(await checkOrFix(account, shop.name, number, lookup, options)));
  }
  for (const sid of involved) {
    const service = known.find((each) => each.sid === sid);
    results.push(...checkService(shop.name, sid, service, options.publicUrl));
  }
  return results;
}

/** The account by the first credential that may read it. */
async function connect(
  shop: TwilioShop,
  options: TwilioCheckOptions,
): Promise<{ account: ConnectedAccount | undefined; results: CheckResult[] }> {
  const tried: TriedCredential[] = [];
  let account: ConnectedAccount | undefined;
  for (const credential of credentialsOf(shop.twilio)) {
    const candidate = await connectAccount(shop.twilio, credential, options.timeoutMs);
    const answer = await attempt(() => candidate.ping());
    const acceptance: Acceptance =
      answer instanceof TwilioTrouble
        ? { kind: answer.kind, message: answer.message }
        : { kind: 'accepted' };
    tried.push({ credential, acceptance });
    if (acceptance.kind === 'accepted') account ??= candidate;
    // The other credentials would time out as well.
    if (acceptance.kind === 'unreachable') break;
  }
  return { account, results: checkCredentials(shop.name, tried) };
}

async function lookUp(
  account: ConnectedAccount,
  number: string,
  services: readonly MessagingService[],
): Promise<NumberLookup> {
  const lookup = await attempt(async (): Promise<NumberLookup> => {
    const sender = await account.find(number);
    if (sender === undefined) return { kind: 'missing' };
    return { kind: 'there', sender, handler: await handlerOf(account, sender, services) };
  });
  return lookup instanceof TwilioTrouble ? { kind: 'unknown', message: lookup.message } : lookup;
}

async function handlerOf(
  account: ConnectedAccount,
  sender: Sender,
  services: readonly MessagingService[],
): Promise<Handler> {
  const service = services.find(({ senders }) => senders.includes(sender.sid));
  if (service !== undefined) return { kind: 'service', sid: service.sid };
  const { applicationSid: sid } = sender;
  if (sid === undefined) return { kind: 'own' };
  return { kind: 'application', sid, settings: await account.application(sid) };
}

async function checkOrFix(
  account: ConnectedAccount,
  shop: string,
  number: string,
  lookup: NumberLookup,
  { publicUrl, fix }: TwilioCheckOptions,
): Promise<CheckResult[]> {
  const found = checkNumber(shop, number, lookup, publicUrl);
  if (!fix || lookup.kind !== 'there' || lookup.handler.kind !== 'own') return found;
  const changes = neededChanges(lookup.sender, publicUrl);
  if (Object.keys(changes).length === 0) return found;
  if (!isReachable(publicUrl)) {
    return withTodo(found, 'not changed: first set http.publicUrl to a URL that Twilio can reach');
  }
  const after = await attempt(() => account.update(lookup.sender, changes));
  if (after instanceof TwilioTrouble) {
    return withTodo(found, `not changed: ${after.message}; set it in Twilio's console`);
  }
  const [there, webhook, fallback] = checkNumber(
    shop,
    number,
    { ...lookup, sender: after },
    publicUrl,
  );
  const [ofWebhook, ofFallback] = changesBetween(lookup.sender, after);
  const withChanges = (result: CheckResult | undefined, changed: readonly Change[]) =>
    result === undefined ? [] : [changed.length === 0 ? result : { ...result, changed }];
  return [
    ...withChanges(there, []),
    ...withChanges(webhook, ofWebhook),
    ...withChanges(fallback, ofFallback),
  ];
}

const withTodo = (results: readonly CheckResult[], todo: string): CheckResult[] =>
  results.map((result) => (result.status === 'failed' ? { ...result, todo } : result));

async function attempt<T>(call: () => Promise<T>): Promise<T | TwilioTrouble> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof TwilioTrouble) return error;
    throw error;
  }
}

type Acceptance =
  | { readonly kind: 'accepted' }
  /** `forbidden`: accepted, but not allowed to read numbers. */
  | { readonly kind: 'refused' | 'forbidden' | 'unreachable' | 'other'; readonly message: string };

interface TriedCredential {
  readonly credential: Pick<Credential, 'name'>;
  readonly acceptance: Acceptance;
}

/**
 * An API key gives access to the API, but webhooks are signed with the account's auth token. The
 * tokens are therefore tried too: with a wrong one, every webhook is answered with 403.
 * @param tried in the order of `credentialsOf`
 */
function checkCredentials(shop: string, tried: readonly TriedCredential[]): CheckResult[] {
  const someToken = tried.some(
    ({ credential, acceptance }) => isToken(credential) && acceptance.kind === 'accepted',
  );
  return tried.map(({ credential, acceptance }, index) => {
    const { ok, warning, failed } = resultsFor(
      'twilio.credentials',
      `${shop} ${credential.name}`,
      'accepted by Twilio for this account',
    );
    switch (acceptance.kind) {
      case 'accepted':
        return ok('accepted');
      case 'forbidden':
        return warning(
          `${acceptance.message}: no permission to read phone numbers`,
          'grant the key permission to read and update phone numbers and messaging services',
        );
      case 'refused':
        // The first token is used to fetch media; further ones are for rotation.
        return isToken(credential) && someToken && index > 0
          ? warning(acceptance.message, 'remove this token after the rotation')
          : failed(acceptance.message, whatToSet(credential));
      case 'unreachable':
      case 'other':
        return failed(
          acceptance.message,
          'check that this machine can reach sms.twilio.baseUrl and that accountSid is correct',
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
