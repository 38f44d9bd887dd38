import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { Busboy } from '@fastify/busboy';
import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { z } from 'zod';
import { ipNetwork } from '../../runtime/ip-addresses.ts';
import { html, Markup } from '../../runtime/markup.ts';
import type { LeftAddressRow } from '../store/left-address-table.ts';
import type { LeftAddresses } from './left-addresses.ts';
import { ADDRESS_PAGE } from './reply-mailer.ts';
import { filled, languageIn, textsIn } from './texts.ts';

/** Mail scanners of a company open the links of all its people. */
const REQUESTS_A_MINUTE = 60;
const BODY_MAX_BYTES = 1024;
const FIELDS_MAX = 4;
const RTL = new Set(['ar']);

const STYLE = `
:root { color-scheme: light dark; }
body { margin: 0; padding: 12vh 1.5rem 2rem; font: 1.05rem/1.5 system-ui, sans-serif; color: CanvasText; background: Canvas; }
main { max-width: 30rem; margin: 0 auto; }
h1 { margin: 0 0 0.5rem; font-size: 1.5rem; line-height: 1.3; overflow-wrap: anywhere; }
p { margin: 0; }
form { margin: 1.25rem 0 0; }
button { min-height: 2.75rem; padding: 0.6rem 1.25rem; border: 1px solid; border-radius: 0.6rem; font: inherit; color: inherit; background: none; cursor: pointer; }
button[value='confirm'] { border-color: transparent; font-weight: 600; color: Canvas; background: CanvasText; }
button:focus-visible { outline: 3px solid Highlight; outline-offset: 2px; }
`;
/** Whole, so that no space comes between the tags and what the policy has the hash of. */
const STYLE_TAG = new Markup(`<style>${STYLE}</style>`);
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
const HEADERS = {
  'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  // The URL has the secret of the link.
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  'X-Robots-Tag': 'noindex',
  'X-Content-Type-Options': 'nosniff',
};

/** The buttons of the page, and the request that a mail program sends by itself (RFC 8058 §3.1). */
const actionSchema = z.union([
  z.object({ action: z.enum(['confirm', 'stop']) }).transform(({ action }) => action),
  z.object({ 'List-Unsubscribe': z.literal('One-Click') }).transform(() => 'stop' as const),
]);

const tokenSchema = z.string().max(100).catch('');
const tokenOf = ({ params }: Request): string => tokenSchema.parse(params['token']);

interface PageParts {
  readonly addresses: LeftAddresses;
  /** Shop names by shop id. */
  readonly shopNames: ReadonlyMap<string, string>;
  /** The client's address. */
  readonly clientIp: (request: IncomingMessage) => string;
}

/**
 * `GET /chat/email/:token`: the page behind the link of each mail to an address that a visitor has
 * left. `POST` to the same confirms the address or stops the mails: programs that scan mail follow
 * links, so that a GET changes nothing.
 */
export function createAddressPage({ addresses, shopNames, clientIp }: PageParts): Router {
  const router = express.Router();
  const path = `${ADDRESS_PAGE}:token`;
  const show = (response: Response, token: string): void => {
    const row = addresses.ofToken(token);
    if (row === undefined) send(response, 404, NOT_FOUND);
    else send(response, 200, pageOf(row, shopNames.get(row.shop) ?? ''));
  };
  router.use(ADDRESS_PAGE, limitRate(clientIp));
  router.get(path, (request, response) => show(response, tokenOf(request)));
  const body = express.raw({
    type: ['application/x-www-form-urlencoded', 'multipart/form-data'],
    limit: BODY_MAX_BYTES,
  });
  router.post(path, orRefusal(body), async (request, response) => {
    const token = tokenOf(request);
    const action = actionSchema.safeParse(await fieldsIn(request)).data;
    if (action === undefined) {
      refuse(response);
      return;
    }
    const row = addresses.ofToken(token);
    if (row !== undefined && action === 'confirm') await addresses.confirm(row);
    if (row !== undefined && action === 'stop') await addresses.stop(row);
    show(response, token);
  });
  return router;
}

/** A body that cannot be read changes nothing. */
function orRefusal(body: express.RequestHandler): express.RequestHandler {
  return (request, response, next) => {
    void body(request, response, (error?: unknown) => {
      if (error === undefined) next();
      else refuse(response);
    });
  };
}

function refuse(response: Response): void {
  response.status(400).set(HEADERS).type('text/plain').end('The form is not valid\n');
}

/** The fields of the form; none if it is not one. Mail programs may send multipart (RFC 8058 §3.2). */
async function fieldsIn({ headers, body }: Request): Promise<Readonly<Record<string, string>>> {
  const { 'content-type': type = '' } = headers;
  const fields = new Map<string, string>();
  if (!Buffer.isBuffer(body)) return {};
  if (!/^multipart\//i.test(type)) return Object.fromEntries(new URLSearchParams(body.toString()));
  try {
    const form = new Busboy({ headers: { 'content-type': type }, limits: { parts: FIELDS_MAX } });
    form.on('field', (name, value) => fields.set(name, value));
    // Without a listener, a file that ends early would crash the process.
    form.on('file', (_field, content) => content.on('error', () => undefined).resume());
    await pipeline([body], form);
  } catch {
    return {};
  }
  return Object.fromEntries(fields);
}

function limitRate(clientIp: PageParts['clientIp']) {
  const limiter = new RateLimiterMemory({ points: REQUESTS_A_MINUTE, duration: 60 });
  return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const refusal: unknown = await limiter.consume(ipNetwork(clientIp(request))).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!(refusal instanceof RateLimiterRes)) {
      next();
      return;
    }
    const seconds = Math.max(1, Math.ceil(refusal.msBeforeNext / 1000));
    response.status(429).set({ ...HEADERS, 'Retry-After': String(seconds) });
    response.type('text/plain').end('Too many requests: try again in a minute\n');
  };
}

function send(response: Response, status: number, page: Markup): void {
  response.status(status).set(HEADERS).type('html').send(page.source);
}

function pageOf(row: LeftAddressRow, shopName: string): Markup {
  const texts = textsIn(row.language);
  const stop = button('stop', texts.stop);
  const fill = (text: string) => filled(text, shopName);
  const content = () => {
    if (row.stopped_at !== null) return [html`<p>${texts.stopped}</p>`];
    if (row.confirmed_at !== null) return [html`<p>${fill(texts.confirmed)}</p>`, stop];
    // Another address has taken its place, so that there is nothing to confirm.
    if (row.replaced_at !== null) return [stop];
    return [html`<p>${fill(texts.question)}</p>`, button('confirm', texts.confirm), stop];
  };
  return page(languageIn(row.language), shopName, content());
}

const button = (action: 'confirm' | 'stop', text: string): Markup =>
  html`<form method="post"><button name="action" value="${action}">${text}</button></form>`;

function page(language: string, title: string, content: readonly Markup[]): Markup {
  return html`<!doctype html>
    <html lang="${language}" dir="${RTL.has(language) ? 'rtl' : 'ltr'}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${STYLE_TAG}
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${content}
        </main>
      </body>
    </html> `;
}

const NOT_FOUND = page('en', 'This link does not work', [
  html`<p>The link is not complete, or it has expired: it works for seven days.</p>`,
]);
