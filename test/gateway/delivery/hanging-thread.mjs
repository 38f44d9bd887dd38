import { parentPort } from 'node:worker_threads';
import { serveRpc } from '../../../dist/runtime/worker-rpc.js';

/** A delivery thread that hangs once it has started. */
serveRpc(parentPort, {
  start: () => {
    setTimeout(() => {
      for (;;);
    });
  },
  stop: () => undefined,
});
