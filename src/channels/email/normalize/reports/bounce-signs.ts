import { isIP } from 'node:net';
import type { HeaderBlock } from '../../header-block.ts';
import { authorOf, isNoReply, type Sender } from '../../sender.ts';
import type { EmailMeta } from '../../stored.ts';
import { readDisplayName } from '../head/header-values.ts';
import { isBounceSubject, isForwardSubject } from '../head/subjects.ts';
import { phrases } from '../quotes/lines.ts';
import { hasBounceOpening, noticeText, startsLikeBounce } from './notice-text.ts';
import { isStatusPart, type ReportPart, reportType } from './report-parts.ts';

/** What of a message says that it is a report, and whether a person may have written it. */
export interface ReportSigns {
  readonly head: HeaderBlock;
  readonly sender: Sender;
  readonly subject: string | undefined;
  readonly meta: Pick<EmailMeta, 'envelopeFrom' | 'remoteAddress'>;
  /** Empty if the message could not be read. */
  readonly parts: readonly ReportPart[];
}

/** Nobody has one of these addresses. */
const DAEMON = /^(?:mailer|mail|e-?mail)[-_.]?daemon[@+]/i;
/** Mail systems use these as well, and so may a person: `postmaster@` at a small company. */
const PERHAPS_DAEMON =
  /^(?:post[-_.]?master(?:[-_/][^@]{0,60})?|mdaemon|mail[-_.]?(?:delivery|system|adm|admin)(?:[-_.](?:sub)?system)?|sysadmin|ndr|(?:double-)?bounces?|microsoftexchange[0-9a-f]{32})[@+]/i;
const POSTMASTER = /^post[-_.]?master[@+]/i;
/** The display names of mail systems, in lower case. */
const DAEMON_NAMES =
  phrases(`mailer-daemon|mailer daemon|mail daemon|postmaster|mail deliver|mail delivery|
  mail system|e-mail delivery|internet mail delivery|delivery subsystem|mail administrator|
  mail router|interscan|system administrator|systemadministrator|administrateur système|
  administrador del sistema|amministratore di sistema|microsoft exchange|microsoft outlook|
  システム管理者|系统管理员|시스템 관리자|`);
const MAY_BE_DAEMON_NAME = /mail|post|deliver|interscan|system|exchange|outlook|=\?|[^\x00-\x7f]/i;
const BARE_DAEMON = /^\W{0,3}mailer-daemon\b/i;

/**
 * RFC 3464, RFC 5321 §4.5.5, and the forms of systems that implement neither. Certain are the
 * report's own type, X-Failed-Recipients, and a daemon's address. A bounce that has only words
 * needs a sender that is no person, and the subject or the first words of a bounce: people forward
 * and paste bounces, and `postmaster@` can be a person.
 */
export function isBounce(mail: ReportSigns): boolean {
  const { head, parts, subject = '' } = mail;
  if (reportType(head) === 'delivery-status' || head.count('x-failed-recipients') > 0) return true;
  const contentType = head.first('content-type')?.slice(0, 100) ?? '';
  if (/^\s*message\/(?:global-)?delivery-status/i.test(contentType)) return true;
  if (/^\s*multipart\/report/i.test(contentType) && parts.some(isStatusPart)) return true;
  const system = mailSystem(mail);
  if (system === 'certain') return true;
  if (system === undefined) return false;
  if (isForwardSubject(subject)) return false;
  if (system === 'no-reply') return startsLikeBounce(noticeText(parts));
  if (isBounceSubject(subject) || parts.some(isStatusPart)) return true;
  return parts.length > 0 && hasBounceOpening(noticeText(parts));
}

/** Over SMTP (RFC 5321 §4.5.5); at another door, an empty sender may just be unknown. */
export function hasNullSender({ meta }: Pick<ReportSigns, 'meta'>): boolean {
  return meta.envelopeFrom === '' && isIP(meta.remoteAddress) !== 0;
}

/**
 * Whether the sender is a mail system: `certain`, `likely`, or one that is at least no person
 * (`no-reply`). Undefined for a person, also one whose mail a form sends for them.
 */
function mailSystem(mail: ReportSigns): 'certain' | 'likely' | 'no-reply' | undefined {
  const { head, sender } = mail;
  const author = sender.kind === 'from' ? sender.mailbox : authorOf(head);
  if (author === 'several') return undefined;
  const raw = (head.first('from') ?? '').slice(0, 1000);
  const address = author?.address ?? '';
  if (DAEMON.test(address) || (address === '' && BARE_DAEMON.test(raw))) return 'certain';
  if (sender.kind === 'claimed' && !isMachine(sender.mailbox.address)) return undefined;
  const isNull = hasNullSender(mail) || hasNullReturnPath(head);
  if (isNull && POSTMASTER.test(address)) return 'certain';
  // Without an address, no person can be answered.
  if (isNull || address === '' || PERHAPS_DAEMON.test(address)) return 'likely';
  if (isDaemonName(author?.name ?? '')) return 'likely';
  return isNoReply(address) ? 'no-reply' : undefined;
}

/** Runs for every message: most names need no decoding. */
function isDaemonName(raw: string): boolean {
  if (!MAY_BE_DAEMON_NAME.test(raw)) return false;
  const name = readDisplayName(raw)?.toLowerCase() ?? '';
  return DAEMON_NAMES.some((start) => name.startsWith(start));
}

function isMachine(address: string): boolean {
  return DAEMON.test(address) || PERHAPS_DAEMON.test(address) || isNoReply(address);
}

/** RFC 5321 §4.4: written by the server that delivered the mail before it was passed on to us. */
function hasNullReturnPath(head: HeaderBlock): boolean {
  const path = head.first('return-path');
  return (
    path !== undefined &&
    /^<?(?:mailer-daemon(?:@[\w.-]{1,255})?)?>?$/i.test(path.slice(0, 320).trim())
  );
}
