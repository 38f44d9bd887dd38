import { parseRetryAfter } from '../../runtime/retry-after.ts';
import type { Notice } from './notice.ts';
import { slackMessage } from './slack-message.ts';
import { type Target, TargetFailed } from './target.ts';

export interface WebhookOptions {
  /** With its token: a secret. */
  readonly url: string;
  /** For one request, its answer included. */
  readonly timeoutMs: number;
}

const MAX_RETRY_AFTER_MS = 60_000;

/** Posts each notice in the form of Slack's incoming webhooks. */
export function createWebhookTarget({ url, timeoutMs }: WebhookOptions): Target {
  return {
    name: 'webhook',
    async send(notice: Notice, signal: AbortSignal): Promise<void> {
      const response = await post(url, notice, timeoutMs, signal);
      // Nothing of an answer is needed; read or not, its connection is free again.
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
      // The token would go wherever the answer points.
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
    });
  } catch (error) {
    if (timeout.aborted) throw new TargetFailed('timeout', String(timeoutMs));
    throw new TargetFailed('unreachable', codeOf(error));
  }
}

/** fetch hides the system's error in its cause; its message holds the host, so only the code. */
function codeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  for (const each of [cause, error]) {
    if (each instanceof Error && 'code' in each && typeof each.code === 'string') return each.code;
  }
  return error instanceof Error ? error.name : 'unknown';
}
