import { startGateway } from '../../test/support/running-gateway.ts';
import { memoryAfterGc } from './memory-after-gc.ts';

/** A complete gateway in a process that reports its memory. */
export async function start(options: { readonly dataDir: string; readonly platformUrl: string }) {
  const gateway = await startGateway(options);
  return {
    port: () => Number(new URL(gateway.httpUrl).port),
    memory: memoryAfterGc,
    stop: () => gateway.stop(),
  };
}
