import { parentPort, workerData } from 'node:worker_threads';
import { serveRpc, transferring } from '../../dist/runtime/worker-rpc.js';

/** The thread of worker-rpc.test.ts. It counts its messages with other threads. */
let received = 0;
let posted = 0;
parentPort.on('message', () => (received += 1));
const post = parentPort.postMessage.bind(parentPort);
parentPort.postMessage = (...args) => {
  posted += 1;
  post(...args);
};

const call = serveRpc(
  parentPort,
  {
    add: (one, other) => one + other,
    data: () => workerData,
    environment: () => ({ ...process.env }),
    messages: () => ({ received, posted }),
    fail() {
      throw Object.assign(new RangeError('a secret of a customer'), { code: 'E_FULL' });
    },
    throwText() {
      throw 'a secret of a customer';
    },
    first: (bytes) => bytes[0],
    filled(length) {
      const bytes = new Uint8Array(length).fill(7);
      return transferring({ bytes }, [bytes.buffer]);
    },
    ask: (text) => call('answer', text),
    async askFailing() {
      try {
        await call('refuse');
      } catch ({ failure }) {
        return failure;
      }
    },
    never: () => new Promise(() => undefined),
    loop() {
      for (;;);
    },
    exit: () => process.exit(1),
    heap() {
      const kept = [];
      for (;;) kept.push(new Array(100_000).fill({}));
    },
    throwLater: () => {
      setImmediate(() => {
        throw new RangeError('not caught');
      });
      return new Promise(() => undefined);
    },
  },
  (error) => (error instanceof RangeError ? 'full' : 'other'),
);

call('ready').catch(() => undefined);
