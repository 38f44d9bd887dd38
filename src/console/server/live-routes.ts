import express, { type Router } from 'express';
import type { History, Overview } from '../contract.ts';
import { visitorOf } from './sign-in.ts';
import type { Stream } from './stream.ts';

export interface LiveRouteParts {
  readonly overview: () => Promise<Overview>;
  readonly history: () => History;
  readonly stream: Stream;
}

/** `GET /overview`, `/history`, `/stream` */
export function liveRoutes({ overview, history, stream }: LiveRouteParts): Router {
  const router = express.Router();
  router.get('/overview', async (_req, res) => {
    res.json(await overview());
  });
  router.get('/history', (_req, res) => {
    res.json(history());
  });
  router.get('/stream', (req, res) => stream.open(req, res, visitorOf(res)));
  return router;
}
