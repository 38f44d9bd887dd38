import type { Setting } from './setting.ts';

/** From now on, the platform lists the messages with this content otherwise. */
export function changeMessages(
  { platform }: Pick<Setting, 'platform'>,
  content: string,
  change: Readonly<Record<string, unknown>>,
): void {
  const before = platform.rewriteMessages;
  platform.rewriteMessages = (list, address) => {
    // As the platform writes it.
    const answer = (before?.(list, address) ?? list) as { results: Record<string, unknown>[] };
    const results = answer.results.map((message) =>
      message['content'] === content ? { ...message, ...change } : message,
    );
    return { ...answer, results };
  };
}

/** The gateway gets the platform's lists only when this is called. */
export function holdReplies(setting: Setting): () => void {
  let release: () => void = () => undefined;
  const held = new Promise<'pass'>((resolve) => {
    release = () => {
      setting.platform.gate = () => undefined;
      resolve('pass');
    };
  });
  setting.platform.gate = (call) => (call === 'GET /messages/' ? held : undefined);
  return release;
}
