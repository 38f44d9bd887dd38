import { createHash, timingSafeEqual } from 'node:crypto';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import helmet from 'helmet';
import type { Health } from '../observability/health.ts';
import { errorFields, type Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';

export interface AdminParts {
  readonly password: string;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** The operator's listener: health for anyone who reaches it, the rest behind the password. */
export function createAdminApp({ password, health, metrics, logger }: AdminParts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(helmet());
  app.get('/healthz', health.healthz);
  app.get('/readyz', health.readyz);
  app.use(requirePassword(password));
  app.get('/metrics', async (_req, res) => {
    res.type(metrics.registry.contentType).end(await metrics.registry.metrics());
  });
  app.use((_req: Request, res: Response) => {
    res.status(404).type('text/plain').end('Not found\n');
  });
  app.use((error: unknown, _req: Request, res: Response, next: NextFunction) => {
    logger.warn('admin.failed', errorFields(error));
    if (res.headersSent) next(error);
    else res.status(500).type('text/plain').end('Internal error\n');
  });
  return app;
}

/** HTTP Basic (RFC 7617) with any user name, or the password as a bearer token for scrapers. */
function requirePassword(password: string) {
  const expected = digest(password);
  return (req: Request, res: Response, next: NextFunction): void => {
    const given = presented(req.headers.authorization ?? '');
    if (given !== undefined && timingSafeEqual(digest(given), expected)) {
      next();
      return;
    }
    res.status(401).set('WWW-Authenticate', 'Basic realm="Sluice"').type('text/plain');
    res.end('The console password is needed\n');
  };
}

function presented(authorization: string): string | undefined {
  const [scheme, value] = authorization.split(' ', 2);
  if (value === undefined) return undefined;
  if (scheme?.toLowerCase() === 'bearer') return value;
  if (scheme?.toLowerCase() !== 'basic') return undefined;
  const pair = Buffer.from(value, 'base64').toString();
  return pair.slice(pair.indexOf(':') + 1);
}

/** Of equal length whatever came, so that the comparison tells nothing. */
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
