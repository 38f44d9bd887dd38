import { nodeAt } from './layers.ts';
import { type Mistake, type Path, showPath } from './mistakes.ts';
import type { SourceNode } from './source-tree.ts';

/** Checks of a shop's settings for texts that involve more than one field. */
export const textMistakes = (root: SourceNode | undefined, index: number): Mistake[] =>
  [hasOneProvider, hasPhoneNumberIds, hasOwnTemplate].flatMap((check) => check(root, index) ?? []);

const PROVIDERS = ['twilio', 'telnyx', 'whatsappCloud'] as const;

/** A shop's numbers are at one provider of texts. */
function hasOneProvider(root: SourceNode | undefined, index: number): Mistake | undefined {
  const path: Path = ['shops', index, 'sms'];
  const sms = nodeAt(root, path);
  if (sms?.kind !== 'map') return undefined;
  const given = PROVIDERS.filter((key) => sms.entries.get(key)?.value !== undefined);
  if (given.length === 1) return undefined;
  const expected = 'one of twilio, telnyx and whatsappCloud: the account that has the numbers';
  const last = given.at(-1);
  if (last !== undefined) {
    return {
      path: showPath([...path, last]),
      place: sms.entries.get(last)?.keyPlace ?? sms.place,
      expected,
      found: given.join(' and '),
      fix: 'keep one of them',
    };
  }
  return {
    path: showPath([...path, 'twilio']),
    place: sms.place,
    expected,
    found: 'none',
    fix:
      sms.place.variable === undefined
        ? 'add twilio: {accountSid: …, authTokens: […]}, telnyx: {apiKey: …, publicKey: …} or ' +
          'whatsappCloud: {phoneNumberIds: […], accessToken: …, appSecrets: […], verifyToken: …}'
        : 'set SLUICE_SHOP_SMS_ACCOUNT_SID and SLUICE_SHOP_SMS_AUTH_TOKENS, or the variables ' +
          'SLUICE_SHOP_SMS_TELNYX_… or SLUICE_SHOP_SMS_WHATSAPP_CLOUD_…',
  };
}

/** Each number has an id at Meta, at the same place of the other list. */
function hasPhoneNumberIds(root: SourceNode | undefined, index: number): Mistake | undefined {
  const path: Path = ['shops', index, 'sms'];
  const numbers = nodeAt(root, [...path, 'numbers']);
  const idsPath: Path = [...path, 'whatsappCloud', 'phoneNumberIds'];
  const ids = nodeAt(root, idsPath);
  if (numbers?.kind !== 'list' || ids?.kind !== 'list') return undefined;
  const given = textsOf(numbers).map((number) => number.replace(/\D/g, ''));
  const isNumber = textsOf(ids).some((id) => given.includes(id));
  if (numbers.items.length === ids.items.length && !isNumber) return undefined;
  return {
    path: showPath(idsPath),
    place: ids.place,
    expected: 'one id for each of sms.numbers, in the same order',
    found: isNumber
      ? 'a number itself, in place of its id'
      : `${ids.items.length} for ${numbers.items.length}`,
    fix: "copy the phone number ID of each number from Meta's WhatsApp Manager",
  };
}

const textsOf = ({ items }: Extract<SourceNode, { kind: 'list' }>): string[] =>
  items.flatMap((item) => (item.kind === 'text' ? [item.text] : []));

/** A template of Twilio has an SID, one of Meta a name and a language. */
function hasOwnTemplate(root: SourceNode | undefined, index: number): Mistake | undefined {
  const path: Path = ['shops', index, 'sms'];
  const template = nodeAt(root, [...path, 'whatsappTemplate']);
  const other = (['whatsappCloud', 'telnyx'] as const).find(
    (provider) => nodeAt(root, [...path, provider]) !== undefined,
  );
  if (template === undefined || other === undefined) return undefined;
  return {
    path: showPath([...path, 'whatsappTemplate']),
    place: template.place,
    expected: `no template of Twilio with ${other}`,
    found: 'an SID',
    fix:
      other === 'telnyx'
        ? 'remove it'
        : 'remove it, and write whatsappCloud: {template: {name: reply_later, language: en_US}}',
  };
}
