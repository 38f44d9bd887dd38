import { once } from 'node:events';
import { createServer } from 'node:http';
import express from 'express';
import { validateRequest } from 'twilio/lib/webhooks/webhooks.js';
import { FormFields, parseUrlencoded } from '../../src/channels/sms/providers/twilio/form.ts';
import { readBody } from '../../src/channels/sms/webhook-request.ts';
import { PUBLIC_URL, SHOP } from '../support/shop.ts';

const MAX_BODY_BYTES = 64 * 1024;

/**
 * An express route that checks the signature and answers, without storing anything. It reads and
 * checks a request with the gateway's own functions and does nothing that the gateway does not, so
 * that the difference is the cost of durability.
 */
export async function start() {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('query parser', false);
  app.post('/sms/twilio', async (req, res) => {
    const fields = new FormFields(parseUrlencoded(await readBody(req, MAX_BODY_BYTES)));
    const signature = req.headers['x-twilio-signature'];
    const url = PUBLIC_URL + req.originalUrl;
    const genuine =
      typeof signature === 'string' &&
      validateRequest(SHOP.authToken, signature, url, fields.signed());
    res.statusCode = genuine ? 200 : 403;
    res.setHeader('Content-Type', 'text/xml; charset=utf-8');
    res.end('<?xml version="1.0" encoding="UTF-8"?><Response/>');
  });
  const server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port: () => port };
}
