import type { AddressMatcher } from '../../address-matcher.ts';
import { type Mailbox, matchKey, parseAddressList } from '../../../../domain/email-addresses.ts';
import type { HeaderBlock } from '../../header-block.ts';
import { createMessageRequestSchema } from '../../../../platform-api/schemas.ts';
import { readDisplayName } from './header-text.ts';

const MAX_MAILBOXES = 200;

/** What the platform takes as an address (API §4.7). */
const platformEmail = createMessageRequestSchema.shape.contact.shape.email;

export interface NamedAddress {
  readonly email: string;
  readonly name?: string;
}

export interface CopyRecipients {
  /** Cc, and the other recipients in To. */
  readonly cc: readonly NamedAddress[];
  readonly bcc: readonly NamedAddress[];
}

/**
 * Who else is in the conversation: without our own addresses and the person who wrote, each once,
 * groups flattened. An address that the platform would refuse is left out.
 */
export function readCopyRecipients(
  head: HeaderBlock,
  own: AddressMatcher,
  sender: string | undefined,
): CopyRecipients {
  const seen = new Set(sender === undefined ? [] : [matchKey(sender)]);
  const collect = (names: readonly string[]) => {
    const found: NamedAddress[] = [];
    const mailboxes = names.flatMap((name) => head.all(name)).flatMap((raw) => [...list(raw)]);
    for (const mailbox of mailboxes) {
      const key = matchKey(mailbox.address);
      const named = toNamedAddress(mailbox);
      if (named === undefined || seen.has(key) || own.has(mailbox.address)) continue;
      seen.add(key);
      found.push(named);
      if (found.length === MAX_MAILBOXES) break;
    }
    return found;
  };
  return { cc: collect(['to', 'cc']), bcc: collect(['bcc']) };
}

/** Undefined when the platform would refuse the address. */
export function toNamedAddress({ address, name }: Mailbox): NamedAddress | undefined {
  const email = platformAddress(address);
  if (email === undefined) return undefined;
  const displayName = readDisplayName(name);
  return { email, ...(displayName !== undefined && { name: displayName }) };
}

/** The address, when the platform takes it. */
export function platformAddress(address: string): string | undefined {
  return platformEmail.safeParse(address).success ? address : undefined;
}

function list(raw: string): readonly Mailbox[] {
  return parseAddressList(raw);
}
