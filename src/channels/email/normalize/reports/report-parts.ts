import { isUtf8 } from 'node:buffer';
import { canonicalAddress } from '../../../../domain/email-addresses.ts';
import { asBuffer } from '../parts/part-content.ts';
import libmime from 'libmime';
import { type HeaderBlock, parseHeaderBlock } from '../../header-block.ts';

/** A part of a message as its classification reads it: the type in lower case. */
export interface ReportPart {
  readonly contentType: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly fileName?: string | undefined;
  /** The start of the decoded bytes. */
  readonly start: Uint8Array;
}

/** The parts of a report that describe it, or return the message (RFC 6522 §3, RFC 6533 §3). */
const STATUS = /^message\/(?:global-)?delivery-status$/;
const ENCLOSED = /^(?:message\/(?:rfc822(?:-headers)?|global(?:-headers)?)|text\/rfc822-headers)$/;

/** RFC 6522 §3: the type of a multipart/report, in lower case. */
export function reportType(head: HeaderBlock): string | undefined {
  const contentType = head.first('content-type')?.slice(0, 2000) ?? '';
  // Reports are rare, and parsing the header is expensive.
  if (!/multipart\/report/i.test(contentType)) return undefined;
  const { value, params } = libmime.parseHeaderValue(contentType);
  if (value.toLowerCase() !== 'multipart/report') return undefined;
  return params['report-type']?.toLowerCase();
}

export const isStatusPart = ({ contentType }: ReportPart): boolean => STATUS.test(contentType);

/** The header block of the message that a report returns; not that of a report in a report. */
export function returnedHead(parts: readonly ReportPart[]): HeaderBlock | undefined {
  const enclosed = parts.find(({ contentType }) => ENCLOSED.test(contentType));
  const head = enclosed === undefined ? undefined : parseHeaderBlock(enclosed.start);
  return head === undefined || reportType(head) === 'delivery-status' ? undefined : head;
}

/** One recipient that was not reached according to a bounce. */
export interface FailedRecipient {
  readonly address: string;
  /** RFC 3463: `5.1.1`. */
  readonly status?: string;
  /** The other server's error text. */
  readonly diagnostic?: string;
}

export interface DeliveryStatus {
  readonly failed: readonly FailedRecipient[];
  /** The number of recipients whose mail is late, was passed on or was delivered. */
  readonly others: number;
}

/** What is around the addresses of a notice. */
const AROUND = /[\s<>"'(),:;\\[\]：，、；。（）【】「」]+/;
const ADDRESS = /^[^@]+@[\w-]+(?:\.[\w-]+)*/;
const ADDRESS_MAX = 320;

/** The addresses in a text, as notices write them. */
export function addressesIn(text: string): readonly string[] {
  return text.split(AROUND).flatMap((word) => ADDRESS.exec(word.slice(0, ADDRESS_MAX))?.[0] ?? []);
}

const MAX_LINES = 2000;
const MAX_LINE_LENGTH = 1000;
const MAX_GROUPS = 200;
/** RFC 3464 §2.3, and names that some systems add to it. */
const FIELD =
  /^\s{0,8}(original-recipient|final-recipient|x-actual-recipient|action|status|diagnostic-code)\s{0,4}:(.{0,1000})/i;

/** The fields of one recipient, by their names in lower case. */
type Group = Map<string, string>;

/**
 * The recipients in a delivery status (RFC 3464 §2.3). The address that we wrote to is preferred to
 * the one that the mail was forwarded to. Only `delayed`, `relayed`, `delivered` and `expanded` are
 * no failure: systems invent other words, such as `error`.
 * @param text the status part, or a text that contains its fields among others
 */
export function readDeliveryStatus(text: string): DeliveryStatus {
  const failed: FailedRecipient[] = [];
  let others = 0;
  for (const group of recipientGroups(text)) {
    const address = recipientOf(group);
    if (/^\s*(?:delayed|relayed|delivered|expanded)\b/i.test(group.get('action') ?? '')) {
      others += 1;
    } else if (address !== undefined) {
      const status = /^\d\.\d{1,3}\.\d{1,3}/.exec(group.get('status')?.trim() ?? '')?.[0];
      const diagnostic = group.get('diagnostic-code')?.trim();
      failed.push({
        address,
        ...(status !== undefined && { status }),
        ...(diagnostic !== undefined && { diagnostic }),
      });
    }
  }
  return { failed, others };
}

/** The text of a part whose charset does not matter: UTF-8 if it is valid, otherwise Latin-1. */
export function statusText(bytes: Uint8Array): string {
  return asBuffer(bytes).toString(isUtf8(bytes) ? 'utf8' : 'latin1');
}

/**
 * Groups of fields, one per recipient. An empty line ends a group, as does a second recipient: some
 * systems leave the empty lines out. Fields without a recipient belong to the group before.
 */
function recipientGroups(text: string): readonly Group[] {
  const groups: Group[] = [];
  let group: Group = new Map();
  let field: string | undefined;
  const close = () => {
    if (isRecipient(group)) groups.push(group);
    else if (group.size > 0) addMissing(groups.at(-1), group);
    group = new Map();
  };
  for (const line of text.split(/\r?\n|\r/, MAX_LINES)) {
    if (groups.length === MAX_GROUPS) break;
    const [, name, value] = FIELD.exec(line.slice(0, MAX_LINE_LENGTH)) ?? [];
    const folded = field === undefined ? undefined : group.get(field);
    if (name !== undefined && value !== undefined) {
      field = name.toLowerCase();
      if (group.has(field)) close();
      group.set(field, value);
    } else if (field !== undefined && folded !== undefined && /^[ \t]+\S/.test(line)) {
      group.set(field, `${folded} ${line.trim()}`.slice(0, MAX_LINE_LENGTH));
    } else {
      field = undefined;
      if (line.trim() === '') close();
    }
  }
  close();
  return groups;
}

const isRecipient = (group: Group): boolean =>
  group.has('final-recipient') || group.has('original-recipient');

function addMissing(group: Group | undefined, fields: Group): void {
  for (const [name, value] of fields) if (group?.has(name) === false) group.set(name, value);
}

function recipientOf(group: Group): string | undefined {
  for (const name of ['original-recipient', 'final-recipient', 'x-actual-recipient']) {
    const address = typedAddress(group.get(name));
    if (address !== undefined) return address;
  }
  return undefined;
}

/**
 * RFC 3464 §2.3.2: `rfc822; ann@x.example`. Some systems write the address alone, in brackets or
 * quotes, in xtext (RFC 3461 §4), or within the other type's form (`X400; …;SMTP:ann@x.example`).
 */
function typedAddress(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  const bare = value.slice(value.indexOf(';') + 1).trim();
  const whole = canonicalAddress(bare.replace(/^[<"']{1,2}|[>"']{1,2}$/g, ''));
  if (whole !== undefined) return whole;
  const decoded = bare.includes('@')
    ? value
    : bare.replace(/\+([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  const [found] = addressesIn(decoded);
  return found === undefined ? undefined : canonicalAddress(found);
}
