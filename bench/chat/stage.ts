import type * as ChatReplies from '../load/chat-replies.ts';
import type * as AnsweringPlatform from '../platform/answering-platform.ts';
import { startGateway } from '../support/gateway.ts';
import type { Workbench } from '../support/workbench.ts';

/** A gateway, a platform whose replies the benchmark controls, and visitors, one process each. */
export async function setStage(bench: Workbench) {
  const at = (file: string) => new URL(file, import.meta.url);
  const platform = await bench.part<typeof AnsweringPlatform>(
    at('../platform/answering-platform.ts'),
    undefined,
  );
  const gateway = await startGateway(bench, {
    platformUrl: await platform.call('url'),
    paused: false,
  });
  const newVisitors = () =>
    bench.part<typeof ChatReplies>(at('../load/chat-replies.ts'), undefined);
  return { platform, gateway, newVisitors };
}
