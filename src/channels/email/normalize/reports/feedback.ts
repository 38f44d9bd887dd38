import { type AddressMatcher, parseAddressList } from '../../../../domain/email-addresses.ts';
import { type HeaderBlock, parseHeaderBlock } from '../../header-block.ts';
import { authorOf, isNoReply } from '../../sender.ts';
import { messageIds } from '../head/header-values.ts';
import type { ReportSigns } from './bounce-signs.ts';
import { noticeText } from './notice-text.ts';
import { type ReportPart, reportType, returnedHead } from './report-parts.ts';

/** What a mail provider reports of a person who marked our mail as spam. */
export interface Complaint {
  /** Who made it. Absent if the provider does not say, or reports something else. */
  readonly complainant?: string;
  /** RFC 5965 §3.1: `abuse`, `fraud` and others. */
  readonly kind: string;
  /** The Message-ID of the reported mail, in angle brackets. */
  readonly originalId?: string;
}

/** RFC 6591 and RFC 6430: failed checks of our domain, and mail that is not spam. */
const NO_COMPLAINT = /^(?:auth-failure|not-spam|dmarc)/i;
/** Microsoft's Junk Mail Reporting Program: no ARF, but the reported mail with these headers. */
const JMRP_SUBJECT = /^complaint about message from [\d.a-f:]{3,45}$/i;
/** Amazon SES passes such complaints on. */
const JMRP_SENDERS = ['staff@hotmail.com', 'complaints@email-abuse.amazonses.com'];
/** Amazon SES, through SNS: https://docs.aws.amazon.com/ses/latest/dg/notification-contents.html */
const SES_START = '{"notificationType":"Complaint"';
const SES_COMPLAINANT = /"complainedRecipients":\[\{"emailAddress":"([^"]{1,320})"/;
const SES_KIND = /"complaintFeedbackType":"([\w-]{1,100})"/;
const SES_ORIGINAL = /"messageId":"(<[^<>"]{1,255}>)"/;

/**
 * RFC 5965: `multipart/report; report-type=feedback-report`; Microsoft's form of it, which a
 * service may pass on under its own address; or a notification of Amazon SES.
 * @param parts as far as they are known
 */
export function isComplaint(head: HeaderBlock, parts: readonly ReportPart[] = []): boolean {
  if (reportType(head) === 'feedback-report') return true;
  const author = authorOf(head);
  if (author === undefined || author === 'several') return false;
  if (isNoReply(author.address) && sesComplaint(parts) !== undefined) return true;
  if (!JMRP_SUBJECT.test(head.first('subject')?.slice(0, 200).trim() ?? '')) return false;
  if (JMRP_SENDERS.includes(author.address)) return true;
  return (returnedHead(parts)?.count('x-hmxmroriginalrecipient') ?? 0) > 0;
}

/** Its text. */
function sesComplaint(parts: readonly ReportPart[]): string | undefined {
  const text = noticeText(parts);
  return text.startsWith(SES_START) ? text : undefined;
}

/**
 * Who complained, and about what: the recipient that the report names, otherwise the one of the
 * reported mail.
 */
export function readComplaint(parts: readonly ReportPart[], own: AddressMatcher): Complaint {
  const report = feedback(parts);
  const reported = returnedHead(parts);
  const ses = (pattern: RegExp) => pattern.exec(sesComplaint(parts) ?? '')?.[1];
  const kind = report?.first('feedback-type')?.slice(0, 100) ?? ses(SES_KIND) ?? 'abuse';
  const [originalId] = messageIds(reported?.all('message-id') ?? [ses(SES_ORIGINAL) ?? '']);
  const named = [
    ses(SES_COMPLAINANT) ?? '',
    ...(report?.all('original-rcpt-to') ?? []),
    ...(report?.all('removal-recipient') ?? []),
    ...(reported?.all('x-hmxmroriginalrecipient') ?? []),
    ...(reported?.all('to') ?? []),
  ];
  const complainant = NO_COMPLAINT.test(kind)
    ? undefined
    : named
        .flatMap((value) => parseAddressList(value.replace(/^rfc822;/i, '')))
        .find(({ address }) => !own.has(address))?.address;
  return {
    kind,
    ...(complainant !== undefined && { complainant }),
    ...(originalId !== undefined && { originalId }),
  };
}

function feedback(parts: readonly ReportPart[]): HeaderBlock | undefined {
  const part = parts.find(({ contentType }) => contentType === 'message/feedback-report');
  return part === undefined ? undefined : parseHeaderBlock(part.start);
}

/** RFC 8460 §6.1 to §6.4. */
const TLS_TYPE = /^application\/tlsrpt\+(?:gzip|json)$/;
/** RFC 9990, “Email”, RFC 8460 §5.1: `receiver!domain!begin!end!id.xml.gz`. */
const REPORT_NAME =
  /^[\w.-]{1,255}!(?:[\w.-]{1,255}!)?\d{9,10}!\d{9,10}(?:![\w-]{1,255})?\.(?:(?:xml|json)(?:\.(?:gz|zip))?|zip|gz)$/i;
const REPORT_TYPE =
  /^(?:application\/(?:x-)?(?:gzip|zip|zip-compressed|octet-stream|tlsrpt\+gzip|tlsrpt\+json)|(?:text|application)\/xml)$/;
/** RFC 9990, “Email”, RFC 8460 §5.3. */
const SUBJECT = /^report domain:/i;
/** The senders of those who leave the subject out. */
const REPORTER = /(?:^|[-_.+])(?:dmarc|tls-?rpt|aggregate|reports?|postmaster|abuse)/i;

/**
 * Whether a mail server reports how it received mail of our domain: a DMARC aggregate (RFC 9990) or
 * a TLS report (RFC 8460). A person who forwards one is a person.
 */
export function isDomainReport({ head, sender, subject = '', parts }: ReportSigns): boolean {
  if (reportType(head) === 'tlsrpt') return true;
  if (!parts.some(isReportFile)) return false;
  if (SUBJECT.test(subject)) return true;
  if (sender.kind === 'claimed' || head.count('in-reply-to') > 0) return false;
  const author = authorOf(head);
  if (author === undefined || author === 'several') return false;
  return isNoReply(author.address) || REPORTER.test(author.address.split('@')[0] ?? '');
}

function isReportFile({ contentType, fileName }: ReportPart): boolean {
  if (TLS_TYPE.test(contentType)) return true;
  return (
    fileName !== undefined &&
    REPORT_TYPE.test(contentType) &&
    REPORT_NAME.test(fileName.slice(0, 1000))
  );
}
