import { parentPort } from 'node:worker_threads';
import { viewMessage, type ViewJob } from './view-message.ts';

if (parentPort === null) throw new Error('this file runs as a worker thread');
const port = parentPort;
port.on('message', (job: ViewJob) => {
  viewMessage(job).then(
    (view) => port.postMessage({ ok: true, view }),
    () => port.postMessage({ ok: false }),
  );
});
