interface Bounced {
  /** Of the email that comes back. */
  readonly messageId: string;
  /** Who was not reached. */
  readonly recipient: string;
  /** Whose email it was. */
  readonly to: string;
}

/** What a mail server sends when it has no such mailbox (RFC 3464). */
export function bounceOf({ messageId, recipient, to }: Bounced): string {
  return [
    'From: MAILER-DAEMON@mx.customer.example',
    `To: ${to}`,
    'Subject: Undelivered Mail Returned to Sender',
    `Message-ID: <bounce-of-${messageId.slice(1)}`,
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
    '',
    '--b',
    '',
    'I could not deliver it.',
    '--b',
    'Content-Type: message/delivery-status',
    '',
    'Reporting-MTA: dns; mx.customer.example',
    '',
    `Final-Recipient: rfc822; ${recipient}`,
    'Action: failed',
    'Status: 5.1.1',
    'Diagnostic-Code: smtp; 550 5.1.1 The mailbox does not exist',
    '',
    '--b',
    'Content-Type: message/rfc822-headers',
    '',
    `Message-ID: ${messageId}`,
    '',
    '--b--',
    '',
  ].join('\r\n');
}
