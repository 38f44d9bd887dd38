import express, { type Router } from 'express';
import { z } from 'zod';
import type { CheckResult } from '../../operations/doctor/check.ts';
import { withinMs } from '../../runtime/clock.ts';
import { type Channel, CHANNELS } from '../../domain/channel.ts';
import type { Audit } from './audit.ts';
import { checked, Refusal } from './refusal.ts';
import type { ConfigurationView, DoctorReport, ReloadResult, TestMessage } from '../contract.ts';
import { actorOf } from './sign-in.ts';

const DOCTOR_MS = 30_000;

/** The test message could not be sent or was refused; the message is shown to the operator. */
export class NotSent extends Error {
  override name = 'NotSent';
}

export interface UpkeepRouteParts {
  readonly audit: Audit;
  readonly configuration: {
    view(): Promise<ConfigurationView>;
    /** Writes its own audit line. */
    reload(who: string, address?: string): Promise<ReloadResult>;
  };
  readonly examine: () => Promise<readonly CheckResult[]>;
  /** Sends a test message through the channel. @throws {NotSent} */
  readonly sendTest: (shop: string, channel: Channel) => Promise<string>;
}

export const testMessageSchema = z.strictObject({
  shop: z.string().min(1).max(100),
  channel: z.enum(CHANNELS),
});

/** Configuration, reload, doctor and test messages. */
export function upkeepRoutes(parts: UpkeepRouteParts): Router {
  const router = express.Router();
  const { configuration, audit } = parts;
  const examine = oneAtATime(parts.examine);

  router.get('/configuration', async (_req, res) => {
    res.json(await configuration.view());
  });
  router.post('/configuration/reload', async (_req, res) => {
    const { who, address } = actorOf(res);
    res.json(await configuration.reload(who, address));
  });
  router.get('/doctor', async (_req, res) => {
    const checks = await withinMs(examine(), DOCTOR_MS, () => {
      const words = `The checks did not finish within ${DOCTOR_MS / 1000} s`;
      throw new Refusal('unavailable', words);
    });
    res.json({ checks } satisfies DoctorReport);
  });
  router.post('/test-message', express.json({ limit: '8kb' }), async (req, res) => {
    const { shop, channel } = checked(testMessageSchema, req.body);
    const line = { ...actorOf(res), action: 'test_message', target: shop };
    try {
      const id = await parts.sendTest(shop, channel);
      await audit.write({ ...line, outcome: channel });
      res.json({ id } satisfies TestMessage);
    } catch (error) {
      if (!(error instanceof NotSent)) throw error;
      await audit.write({ ...line, outcome: `${channel}: not sent` });
      throw new Refusal('unavailable', error.message, { cause: error });
    }
  });
  return router;
}

/** Requests during a run share its result. */
function oneAtATime<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  return () => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
}
