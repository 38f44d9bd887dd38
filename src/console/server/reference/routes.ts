import express, { type Router } from 'express';
import { referenceStyle } from '../../../runtime/api-reference.ts';

const STYLE_SHEET = '/docs/style.css';
/** No scripts, and nothing from other origins. */
const POLICY =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** `GET /openapi.json`, `GET /docs`: the reference of the API, for who may use it. */
export function referenceRoutes(version: string): Router {
  const router = express.Router();
  // Most gateways are never asked, so the generator is loaded at the first request.
  const document = once(async () => (await import('./document.ts')).adminDocument(version));
  const page = once(async () => {
    const { adminReference } = await import('./page.ts');
    return adminReference(await document(), `/api${STYLE_SHEET}`).source;
  });
  router.get('/openapi.json', async (_req, res) => {
    res.json(await document());
  });
  router.get('/docs', async (_req, res) => {
    res
      .set('Content-Security-Policy', POLICY)
      .type('html')
      .end(await page());
  });
  router.get(STYLE_SHEET, (_req, res) => {
    res.type('css').end(referenceStyle());
  });
  return router;
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
