import express, {
  type Express,
  type NextFunction,
  type Request,
  type Response,
  type Router,
} from 'express';
import helmet from 'helmet';
import { Registry } from 'prom-client';
import type { Readiness } from '../../observability/readiness.ts';
import { errorFields, type Logger } from '../../observability/logger.ts';
import { Refusal } from './refusal.ts';
import { answerFailures, isCrossSite, requireKnownHost, requireOwnPage } from './request-guards.ts';
import type { SignIn } from './sign-in.ts';

interface AdminParts {
  readonly readiness: Readiness;
  /** The metrics as text. */
  readonly metrics: () => Promise<string>;
  readonly logger: Logger;
  readonly signIn: SignIn;
  /** The API's routes, which require a session. */
  readonly routes: readonly express.Router[];
  /** The configured listen address, which may be a name. */
  readonly host: string;
  /** Further host names of the console, such as those of a proxy. */
  readonly hosts: readonly string[];
  /** The folder of the built page. */
  readonly pageFolder: string;
}

const SELF = ["'self'"];

/**
 * The admin listener: health checks without authentication, the console's page, its API behind a
 * session, and metrics behind their own token or the password.
 */
export function createAdminApp(parts: AdminParts): Express {
  const { readiness, metrics, logger, signIn, host, hosts } = parts;
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.use(securityHeaders());
  app.get('/healthz', readiness.healthz);
  app.get('/readyz', readiness.readyz);
  app.get('/metrics', requirePassword(signIn), async (_req, res) => {
    res.type(Registry.PROMETHEUS_CONTENT_TYPE).end(await metrics());
  });
  app.use(requireKnownHost([host, ...hosts], logger));
  app.use('/api', createApi({ signIn, routes: parts.routes, hosts, logger }));
  app.use(pageFiles(parts.pageFolder));
  app.use((_req: Request, res: Response) => {
    res.status(404).type('text/plain').end('Not found\n');
  });
  // oxlint-disable-next-line no-unused-vars -- express tells it by its four parameters
  app.use((error: unknown, _req: Request, res: Response, _next: NextFunction) => {
    if (error instanceof URIError && !res.headersSent) {
      res.status(400).type('text/plain').end('The path is not valid\n');
      return;
    }
    logger.warn('admin.failed', errorFields(error));
    if (res.headersSent) res.destroy();
    else res.status(500).type('text/plain').end('Internal error\n');
  });
  return app;
}

/** The page may load resources and send requests only within its origin, and may not be framed. */
function securityHeaders() {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: SELF,
        styleSrc: SELF,
        connectSrc: SELF,
        imgSrc: [...SELF, 'data:'],
        frameSrc: SELF,
        baseUri: ["'none'"],
        formAction: SELF,
        frameAncestors: ["'none'"],
      },
    },
    crossOriginOpenerPolicy: { policy: 'same-origin' },
    crossOriginResourcePolicy: { policy: 'same-origin' },
    referrerPolicy: { policy: 'no-referrer' },
    xFrameOptions: { action: 'deny' },
    // The admin listener uses HTTP; a TLS proxy in front of it sets this header.
    strictTransportSecurity: false,
  });
}

/** Requires the metrics token, a token of the API, or the password as a bearer token or by HTTP Basic. */
function requirePassword(signIn: SignIn) {
  return async (req: Request, res: Response, next: NextFunction): Promise<void> => {
    res.set('Cache-Control', 'no-store');
    // Links on other sites could otherwise use up this client's login attempts.
    if (isCrossSite(req)) {
      res.status(403).type('text/plain').end('Cross-site requests are refused\n');
      return;
    }
    try {
      if (await signIn.mayReadMetrics(req)) {
        next();
        return;
      }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { retryAfter } = error.problem;
      if (retryAfter !== undefined) res.set('Retry-After', String(retryAfter));
      res.status(error.status).type('text/plain').end(`${error.message}\n`);
      return;
    }
    res.status(401).set('WWW-Authenticate', 'Basic realm="Sluice"').type('text/plain');
    res.end('The console password, the metrics token or a token of the API is required\n');
  };
}

interface ApiParts {
  readonly signIn: SignIn;
  /** Routes that require a session. */
  readonly routes: readonly Router[];
  /** Host names of the console behind a proxy. */
  readonly hosts: readonly string[];
  readonly logger: Logger;
}

/** Everything under `/api` (`contract.ts`). */
function createApi({ signIn, routes, hosts, logger }: ApiParts): Router {
  const api = express.Router();
  api.use((_req: Request, res: Response, next: NextFunction) => {
    res.set('Cache-Control', 'no-store');
    next();
  });
  api.use(requireOwnPage(hosts));
  api.use(signIn.loginRoute());
  api.use(signIn.require);
  api.use(signIn.sessionRoutes());
  for (const router of routes) api.use(router);
  api.use(() => {
    throw new Refusal('not_found', 'Not found');
  });
  api.use(answerFailures(logger));
  return api;
}

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;
const NOT_BUILT =
  'This build does not include the console. Run `npm run build`. The API is available.\n';

/**
 * Serves the built page: hashed files, cached permanently, and `index.html` for every address of
 * the console.
 */
function pageFiles(folder: string): Router {
  const router = express.Router();
  router.use(
    '/assets',
    express.static(`${folder}/assets`, {
      immutable: true,
      maxAge: YEAR_MS,
      index: false,
      redirect: false,
      dotfiles: 'ignore',
    }),
  );
  router.use(express.static(folder, { index: false, redirect: false, dotfiles: 'ignore' }));
  router.get('/{*path}', (req: Request, res: Response, next) => {
    // A missing file is answered with 404: a script tag that receives HTML fails without a clear
    // error.
    if (/\.[a-z0-9]{1,8}$/i.test(req.path) || !acceptsPage(req)) {
      next();
      return;
    }
    res.set('Cache-Control', 'no-cache');
    res.sendFile('index.html', { root: folder, cacheControl: false }, (error) => {
      if (error === undefined || res.headersSent) return;
      res.status(503).type('text/plain').end(NOT_BUILT);
    });
  });
  return router;
}

const acceptsPage = (req: Request): boolean => req.accepts(['html', 'text']) !== false;
