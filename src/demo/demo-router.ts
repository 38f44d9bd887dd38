import { readFileSync } from 'node:fs';
import { type NextFunction, type Request, type Response, Router } from 'express';
import { SignJWT } from 'jose';
import { demoPage } from './page.ts';
import { PICTURES } from './pictures.ts';
import { type DemoTexts, LANGUAGES } from './texts.ts';

export interface DemoOptions {
  readonly widgetKey: string;
  /** Lets the page log in a customer; set only for the demo shop. */
  readonly identitySecret?: string;
}

const ASSETS = ['page.css', 'page.js'];

/** A fictional customer: `.example` is reserved (RFC 2606 §2). */
const ADA = { subject: 'demo-ada', name: 'Ada Nilsson', email: 'ada@customer.example' } as const;
const IDENTITY_LIFETIME = '10 minutes';

/**
 * `GET /demo`: a sample shop's page with the widget, in the visitor's language;
 * `GET /demo/<language>` and `GET /demo?lang=<language>` in the given one. The page has the strictest
 * Content-Security-Policy that the widget works with.
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
    show(request, response, inLanguage(request.query['lang']) ?? preferred(request));
  });
  router.get('/demo/assets/:name', (request, response, next) => {
    const { name } = request.params;
    serve(response, next, name, assets.get(name));
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
    signIdentity(identitySecret, widgetKey).then((jwt) => {
      response.set('Cache-Control', 'no-store').json({ jwt });
    }, next);
  });
  router.get('/demo/:lang', (request, response, next) => {
    const texts = inLanguage(request.params.lang);
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

const inLanguage = (wanted: unknown): DemoTexts | undefined =>
  LANGUAGES.find(({ lang }) => lang === wanted);

function preferred(request: Request): DemoTexts {
  const best = request.acceptsLanguages(...LANGUAGES.map(({ lang }) => lang));
  const texts = inLanguage(best) ?? LANGUAGES[0];
  if (texts === undefined) throw new Error('the page has no language');
  return texts;
}

/** Names the WebSocket URLs, because older browsers do not match them with `'self'`. */
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

/** Signs a JWT for the demo's customer, like a shop's server does for a customer who is logged in. */
function signIdentity(secret: string, widgetKey: string): Promise<string> {
  return new SignJWT({ name: ADA.name, email: ADA.email })
    .setProtectedHeader({ alg: 'HS256' })
    .setSubject(ADA.subject)
    .setAudience(widgetKey)
    .setIssuedAt()
    .setExpirationTime(IDENTITY_LIFETIME)
    .sign(new TextEncoder().encode(secret));
}
