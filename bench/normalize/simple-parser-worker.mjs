import { createReadStream } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { simpleParser } from 'mailparser';

/** mailparser as its documentation shows it; returns what a gateway would submit. */
parentPort?.on('message', ({ id, source }) => {
  const input = typeof source === 'string' ? createReadStream(source) : Buffer.from(source);
  simpleParser(input).then(
    ({ attachments, subject, from, to, text, html, messageId, references, date }) => {
      const bytes = attachments.reduce((sum, { size }) => sum + size, 0);
      const read = { subject, from, to, text, html, messageId, references, date, bytes };
      parentPort?.postMessage({ id, read });
    },
    (error) => parentPort?.postMessage({ id, error: String(error) }),
  );
});
