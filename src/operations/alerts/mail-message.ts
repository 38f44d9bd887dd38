import { headline, type Notice, remark, type Section, sectionsOf, TEST_TEXT } from './notice.ts';

export interface MailMessage {
  readonly subject: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Plain text, for any reader. The headers keep automatic answers away and keep us from being
 * answered by ourselves (RFC 3834 §5); urgent ones are marked for those who filter.
 */
export function mailMessage(notice: Notice): MailMessage {
  const isUrgent = [...notice.fired, ...notice.worse].some((a) => a.severity === 'critical');
  return {
    subject: headline(notice),
    text: notice.isTest
      ? `${TEST_TEXT}\n`
      : `${sectionsOf(notice)
          .map((section) => paragraph(section, notice.at))
          .join('\n')}\n${footer(notice)}`,
    headers: {
      'Auto-Submitted': 'auto-generated',
      'X-Auto-Response-Suppress': 'All',
      Precedence: 'bulk',
      ...(isUrgent && { 'X-Priority': '1', Importance: 'high' }),
    },
  };
}

function paragraph({ title, tone, alerts, more }: Section, at: number): string {
  const each = alerts.map((alert) => {
    const head = `- ${alert.summary} (${remark(alert, at, tone)})\n`;
    return tone === 'good' ? head : `${head}  ${alert.todo}\n`;
  });
  return `${title}:\n${each.join('')}${more > 0 ? `and ${more} more\n` : ''}`;
}

const footer = ({ source, at }: Notice): string =>
  `Sluice on ${source}, ${new Date(at).toISOString()}\n`;
