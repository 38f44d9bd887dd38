import { causeCodeOf, codeOf } from '../../runtime/error-code.ts';
import { parseRetryAfter } from '../../runtime/retry-after.ts';
import { headline, type Notice, remark, type Section, sectionsOf, TEST_TEXT } from './notice.ts';
import { type Target, TargetFailed } from './target.ts';

export interface WebhookOptions {
  /** Contains the webhook's token, so it is a secret. */
  readonly url: string;
  /** The timeout of one request, including its response. */
  readonly timeoutMs: number;
}

const MAX_RETRY_AFTER_MS = 60_000;

/** Posts each notice in the form of Slack's incoming webhooks. */
export function createWebhookTarget({ url, timeoutMs }: WebhookOptions): Target {
  return {
    name: 'webhook',
    async send(notice: Notice, signal: AbortSignal): Promise<void> {
      const response = await post(url, notice, timeoutMs, signal);
      // The body of the response is not needed; canceling it releases the connection.
      await response.body?.cancel().catch(() => undefined);
      const { status } = response;
      if (status >= 200 && status < 300) return;
      const busy = status === 408 || status === 429 || status >= 500;
      const retryAfterMs = parseRetryAfter(response.headers.get('retry-after'), Date.now()) ?? 0;
      throw new TargetFailed(
        busy ? 'busy' : 'refused',
        String(status),
        busy ? Math.min(retryAfterMs, MAX_RETRY_AFTER_MS) : undefined,
      );
    },
    close: () => undefined,
  };
}

async function post(
  url: string,
  notice: Notice,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<Response> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    return await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify(slackMessage(notice)),
      // A redirect would send the token to another server.
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
    });
  } catch (error) {
    if (timeout.aborted) throw new TargetFailed('timeout', String(timeoutMs));
    throw new TargetFailed('unreachable', reasonOf(error));
  }
}

/** Only the code, because the error's message contains the host. */
const reasonOf = (error: unknown): string =>
  causeCodeOf(error) || codeOf(error) || (error instanceof Error ? error.name : 'unknown');

/** The colours of the bar beside an attachment. */
const COLORS: Readonly<Record<Section['tone'], string>> = {
  critical: '#c62828',
  warning: '#ef8e00',
  good: '#2e7d32',
};
/** Slack refuses a text block of more than 3000 characters. */
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
 * The request body of Slack's incoming webhooks and of compatible services (Mattermost,
 * Rocket.Chat, Discord under `/slack`). All of them support `text` and attachments with text.
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

/** Escapes the three characters that Slack's format reserves. */
const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
