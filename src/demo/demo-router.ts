import { readFileSync } from 'node:fs';
import { type NextFunction, type Request, type Response, Router } from 'express';
import { mintIdentity } from './identity.ts';
import { LANGUAGES } from './languages.ts';
import { demoPage } from './page.ts';
import { PICTURES } from './pictures.ts';
import type { DemoTexts } from './texts/demo-texts.ts';

export interface DemoOptions {
  readonly widgetKey: string;
  /** With it the page can log a customer in; only a shop that is itself a demo has one to spare. */
  readonly identitySecret?: string;
}

const ASSETS = ['base.css', 'product.css', 'sections.css', 'page.js'] as const;

/**
 * `GET /demo`: a sample shop's page with the widget on it, in the visitor's language, and
 * `GET /demo/<language>`. It is as strict about what a page may load as a shop's page can be.
 */
export function createDemoRouter({ widgetKey, identitySecret }: DemoOptions): Router {
  const assets = new Map(
    ASSETS.map((name) => [name, readFileSync(new URL(`./assets/${name}`, import.meta.url))]),
  );
  const router = Router();
  router.use('/demo', (_request, response, next) => {
    response.set({ 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-cache' });
    next();
  });
  const show = (request: Request, response: Response, texts: DemoTexts): void => {
    response.set({
      'Content-Security-Policy': contentSecurityPolicy(request.headers.host),
      'Referrer-Policy': 'no-referrer',
    });
    const page = demoPage({ texts, widgetKey, identifies: identitySecret !== undefined });
    response.type('html').send(page);
  };
  router.get('/demo', (request, response) => {
    response.vary('Accept-Language');
    show(request, response, preferred(request));
  });
  router.get('/demo/assets/:name', (request, response, next) => {
    const { name } = request.params;
    serve(response, next, name, assets.get(name as (typeof ASSETS)[number]));
  });
  router.get('/demo/pictures/:name', (request, response, next) => {
    const { name } = request.params;
    serve(response, next, name, PICTURES.get(name));
  });
  router.post('/demo/identity', (_request, response, next) => {
    if (identitySecret === undefined) {
      next();
      return;
    }
    mintIdentity(identitySecret, widgetKey).then((jwt) => {
      response.set('Cache-Control', 'no-store').json({ jwt });
    }, next);
  });
  router.get('/demo/:lang', (request, response, next) => {
    const texts = LANGUAGES.find(({ lang }) => lang === request.params.lang);
    if (texts === undefined) next();
    else show(request, response, texts);
  });
  return router;
}

function serve(
  response: Response,
  next: NextFunction,
  name: string,
  content: string | Buffer | undefined,
): void {
  if (content === undefined) next();
  else response.type(name.slice(name.lastIndexOf('.'))).send(content);
}

function preferred(request: Request): DemoTexts {
  const best = request.acceptsLanguages(...LANGUAGES.map(({ lang }) => lang));
  const texts = LANGUAGES.find(({ lang }) => lang === best) ?? LANGUAGES[0];
  if (texts === undefined) throw new Error('a page without a language');
  return texts;
}

/** Older browsers do not take a WebSocket of the same host for `'self'`. */
function contentSecurityPolicy(host: string | undefined): string {
  const sockets =
    host !== undefined && /^[\w.:[\]-]+$/.test(host) ? ` ws://${host} wss://${host}` : '';
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    `connect-src 'self'${sockets}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
