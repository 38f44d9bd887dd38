import type { Response, Router } from 'express';
import { sendJson, sendRaw } from '../respond.ts';
import { resource } from '../routes/resource.ts';
import { openApiDocument } from './document.ts';
import { referencePage } from './reference-page.ts';
import { referenceStyle } from '../../runtime/api-reference.ts';
import { html, type Markup } from '../../runtime/markup.ts';

const HEADERS = {
  // No scripts, and nothing from other origins.
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
};

/**
 * The pages about the API, without authentication: the home page at `/`, the reference at
 * `/reference`, and the OpenAPI document at `/v2026-04/openapi.json`.
 */
export function referenceRoutes(router: Router, baseUrl: () => string): void {
  const style = referenceStyle();
  // Created at the first request, because the port is not known before.
  const documents = once(() => openApiDocument(baseUrl()));
  const reference = once(() => referencePage(documents(), baseUrl()).source);
  const home = once(() => homePage(baseUrl()).source);

  resource(router, '/', { get: (_request, response) => sendHtml(response, home()) });
  for (const path of ['/reference', '/reference/']) {
    resource(router, path, { get: (_request, response) => sendHtml(response, reference()) });
  }
  resource(router, '/reference/style.css', {
    get: (_request, response) => {
      sendRaw(response, 200, style, { ...HEADERS, 'Content-Type': 'text/css; charset=utf-8' });
    },
  });
  resource(router, '/v2026-04/openapi.json', {
    get: (_request, response) => {
      // Any origin may read it, such as OpenAPI viewers in a browser.
      sendJson(response, 200, documents(), { 'Access-Control-Allow-Origin': '*' });
    },
  });
}

const sendHtml = (response: Response, page: string) =>
  sendRaw(response, 200, page, { ...HEADERS, 'Content-Type': 'text/html; charset=utf-8' });

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** `GET /`: a short introduction with links. */
const homePage = (baseUrl: string): Markup =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>Local platform</title>
        <link rel="stylesheet" href="/reference/style.css" />
      </head>
      <body class="front">
        <main>
          <h1>The local platform is running</h1>
          <p>
            A complete implementation of the customer-support platform's REST API for one machine.
            It stores all data durably, and an agent answers the messages.
          </p>
          <p class="ways">
            <a class="way" href="/reference"
              ><b>API reference</b> All operations, each with an example</a
            >
            <a class="way" href="/v2026-04/openapi.json"
              ><b>openapi.json</b> The reference for programs</a
            >
          </p>
          <figure>
            <figcaption>A first call</figcaption>
            <pre tabindex="0"><code class="line">curl '${baseUrl}/v2026-04/tickets/' \\
  -H "Authorization: Bearer $API_KEY" \\
  -H "X-Shop-Id: $SHOP_ID"</code></pre>
          </figure>
          <p class="quiet">
            A shop's key and id are in the configuration; those of the demo shop are printed at the
            start.
          </p>
        </main>
      </body>
    </html>`;
