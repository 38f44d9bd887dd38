import { relayError, type RelayOptions, relayTransport } from '../../runtime/relay-transport.ts';
import { headline, type Notice, remark, type Section, sectionsOf, TEST_TEXT } from './notice.ts';
import { type Target, TargetFailed } from './target.ts';

export interface EmailOptions {
  /** The recipients. */
  readonly to: readonly string[];
  /** The sender, which receives bounces. */
  readonly from: string;
  readonly relay: RelayOptions;
}

/** After these times without a response from the relay, the attempt is repeated. */
const TIMEOUTS = { connectMs: 15_000, greetingMs: 30_000, silenceMs: 60_000, totalMs: 120_000 };

/** Sends each notice as one email to all recipients, through an SMTP relay. */
export function createEmailTarget({ to, from, relay }: EmailOptions): Target {
  const timeouts = relay.timeouts ?? TIMEOUTS;
  const transport = relayTransport({ ...relay, timeouts });
  return {
    name: 'email',
    async send(notice: Notice, signal: AbortSignal): Promise<void> {
      const timeout = AbortSignal.timeout(timeouts.totalMs);
      try {
        await transport.sendMail({
          ...mailMessage(notice),
          // Objects, because a string would be parsed as a list of addresses.
          from: { name: 'Sluice', address: from },
          to: to.map((address) => ({ name: '', address })),
          signal: AbortSignal.any([signal, timeout]),
        });
      } catch (error) {
        throw failureOf(error, timeout.aborted);
      }
    },
    close: () => transport.close(),
  };
}

/** The relay's text is left out, because it quotes the address. */
function failureOf(error: unknown, isLate: boolean): TargetFailed {
  const { code, responseCode } = relayError(error);
  if (responseCode !== undefined) {
    return new TargetFailed(responseCode >= 500 ? 'refused' : 'busy', String(responseCode));
  }
  const kind = isLate || code === 'ETIMEDOUT' ? 'timeout' : 'unreachable';
  return new TargetFailed(kind, code || 'unknown');
}

export interface MailMessage {
  readonly subject: string;
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Plain text, which every mail program shows. The headers prevent automatic replies, including our
 * own (RFC 3834 §5), and mark critical alerts as important.
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
