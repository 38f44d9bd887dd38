import { readFileSync } from 'node:fs';
import type { Response, Router } from 'express';
import { sendJson, sendRaw } from '../respond.ts';
import { resource } from '../routes/resource.ts';
import { openApiDocument } from './document.ts';
import { homePage } from './home-page.ts';
import { referencePage } from './reference-page.ts';

const HEADERS = {
  // No script, and nothing from elsewhere.
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-cache',
};

/**
 * What tells about the API, to anyone: a page at `/`, the reference at `/reference`, and the
 * OpenAPI document at `/v2026-04/openapi.json`.
 */
export function referenceRoutes(router: Router, baseUrl: () => string): void {
  const style = readFileSync(new URL('./reference.css', import.meta.url), 'utf8');
  // Made when first asked for; the port is not known before.
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
      // Anyone may read it; editors and viewers in a browser do.
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
