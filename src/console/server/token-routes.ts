import express, { type Router } from 'express';
import { z } from 'zod';
import {
  MAX_TOKEN_MS,
  MIN_TOKEN_MS,
  TOKEN_NAME,
  TOKEN_SCOPES,
  tokenOutcome,
} from '../../domain/api-token.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type ApiTokenStore, makeToken, TokenRefused } from '../../spool/api-token-store.ts';
import type { ApiTokenList, MadeApiToken, NewApiToken } from '../contract.ts';
import type { Audit } from './audit.ts';
import { checked, Refusal } from './refusal.ts';
import { actorOf, callerOf, requireOperator } from './sign-in.ts';

export const newTokenSchema = z.strictObject({
  name: z.string().regex(TOKEN_NAME),
  scope: z.enum(TOKEN_SCOPES),
  lifetimeMs: z.int().min(MIN_TOKEN_MS).max(MAX_TOKEN_MS).nullable(),
}) satisfies z.ZodType<NewApiToken>;

interface TokenRouteParts {
  readonly tokens: ApiTokenStore;
  readonly audit: Audit;
  readonly clock: Clock;
}

/** `GET /tokens`, `POST /tokens`, `DELETE /tokens/:id` */
export function tokenRoutes({ tokens, audit, clock }: TokenRouteParts): Router {
  const router = express.Router();
  router.get('/tokens', async (_req, res) => {
    res.json({ tokens: await tokens.apiTokens() } satisfies ApiTokenList);
  });
  router.post('/tokens', requireOperator, express.json({ limit: '8kb' }), async (req, res) => {
    const { name, scope, lifetimeMs } = checked(newTokenSchema, req.body);
    const who = callerOf(res).operator;
    const madeAt = clock();
    const ends = lifetimeMs === null ? {} : { endsAt: madeAt + lifetimeMs };
    const made = await orRefusal(makeToken(tokens, { name, scope, madeBy: who, madeAt, ...ends }));
    const outcome = tokenOutcome(made.token);
    await audit.write({ ...actorOf(res), action: 'token_create', target: name, outcome });
    res.status(201).json(made satisfies MadeApiToken);
  });
  router.delete('/tokens/:id', requireOperator, async (req, res) => {
    const { id } = req.params;
    const token = (await tokens.apiTokens()).find((each) => each.id === id);
    if (token === undefined || !(await tokens.removeApiToken(token.id))) {
      throw new Refusal('not_found', 'Token not found: it was revoked before');
    }
    await audit.write({ ...actorOf(res), action: 'token_revoke', target: token.name });
    res.status(204).end();
  });
  return router;
}

/** @throws {Refusal} the token was not made */
async function orRefusal<Made>(making: Promise<Made>): Promise<Made> {
  try {
    return await making;
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error;
    throw new Refusal('conflict', error.message, { cause: error });
  }
}
