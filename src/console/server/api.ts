import express, { type NextFunction, type Request, type Response, type Router } from 'express';
import type { Logger } from '../../observability/logger.ts';
import { Refusal } from './refusal.ts';
import { answerFailures, requireOwnPage } from './request-guards.ts';
import type { SignIn } from './sign-in.ts';

export interface ApiParts {
  readonly signIn: SignIn;
  /** Behind the session. */
  readonly routes: readonly Router[];
  /** Names that the console has behind a proxy. */
  readonly hosts: readonly string[];
  readonly logger: Logger;
}

/** Everything under `/api` (`contract.ts`). */
export function createApi({ signIn, routes, hosts, logger }: ApiParts): Router {
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
    throw new Refusal('not_found', 'There is no such thing here');
  });
  api.use(answerFailures(logger));
  return api;
}
