import { headline, type Notice, remark, type Section, sectionsOf, TEST_TEXT } from './notice.ts';

/** The colours of the bar beside an attachment. */
const COLORS: Readonly<Record<Section['tone'], string>> = {
  critical: '#c62828',
  warning: '#ef8e00',
  good: '#2e7d32',
};
/** Slack refuses a block of text beyond 3000 characters. */
const MAX_TEXT = 2900;

export interface SlackMessage {
  readonly text: string;
  readonly attachments: readonly {
    readonly color: string;
    readonly fallback: string;
    readonly title: string;
    readonly text: string;
    readonly mrkdwn_in: readonly ['text'];
    readonly ts: number;
  }[];
}

/**
 * The body that incoming webhooks of Slack take, and of those that took its form over (Mattermost,
 * Rocket.Chat, Discord under `/slack`): all of them know `text` and attachments with text.
 */
export function slackMessage(notice: Notice): SlackMessage {
  const ts = Math.floor(notice.at / 1000);
  if (notice.isTest) {
    return {
      text: escaped(headline(notice)),
      attachments: [attachment('good', 'Test', escaped(TEST_TEXT), ts)],
    };
  }
  return {
    text: escaped(headline(notice)),
    attachments: sectionsOf(notice).map((section) =>
      attachment(section.tone, section.title, lines(section, notice.at), ts),
    ),
  };
}

function attachment(tone: Section['tone'], title: string, text: string, ts: number) {
  const bounded = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)} ...` : text;
  return {
    ...{ color: COLORS[tone], fallback: bounded, title, text: bounded, ts },
    mrkdwn_in: ['text'] as const,
  };
}

function lines({ alerts, tone, more }: Section, at: number): string {
  const each = alerts.map((alert) => {
    const head = `*${escaped(alert.summary)}* (${escaped(remark(alert, at, tone))})`;
    return tone === 'good' ? head : `${head}\n${escaped(alert.todo)}`;
  });
  return [...each, ...(more > 0 ? [`and ${more} more`] : [])].join('\n');
}

/** The three characters that have a meaning of their own there. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
