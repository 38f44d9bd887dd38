import express, { type Router } from 'express';
import { z } from 'zod';
import type { CheckResult } from '../../operations/doctor/check.ts';
import { withinMs } from '../../runtime/clock.ts';
import type { OperatorStore } from '../../spool/operator-store.ts';
import { type Channel, CHANNELS } from '../../domain/channel.ts';
import type { Audit } from './audit.ts';
import { checked, Refusal } from './refusal.ts';
import type {
  AuditPage,
  ConfigurationView,
  DoctorReport,
  ReloadResult,
  TestMessage,
} from '../contract.ts';
import { callerOf } from './sign-in.ts';

const AUDIT_PAGE = 50;
const MAX_AUDIT_PAGE = 200;
const DOCTOR_MS = 30_000;

/** The test message could not be sent or was refused; the message is shown to the operator. */
export class NotSent extends Error {
  override name = 'NotSent';
}

export interface UpkeepRouteParts {
  readonly operator: Pick<OperatorStore, 'auditLines'>;
  readonly audit: Audit;
  readonly configuration: {
    view(): Promise<ConfigurationView>;
    /** Writes its own audit line. */
    reload(who: string): Promise<ReloadResult>;
  };
  readonly examine: () => Promise<readonly CheckResult[]>;
  /** Sends a test message through the channel. @throws {NotSent} */
  readonly sendTest: (shop: string, channel: Channel) => Promise<string>;
}

export const auditQuerySchema = z.strictObject({
  before: z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .optional()
    .meta({ type: 'integer', pattern: undefined, description: '`next` of the page before.' }),
  limit: z
    .string()
    .regex(/^\d{1,4}$/)
    .transform(Number)
    .pipe(z.number().min(1).max(MAX_AUDIT_PAGE))
    .optional()
    .meta({ type: 'integer', pattern: undefined, maximum: MAX_AUDIT_PAGE, default: AUDIT_PAGE }),
});
export const testMessageSchema = z.strictObject({
  shop: z.string().min(1).max(100),
  channel: z.enum(CHANNELS),
});

/** Configuration, reload, doctor, test messages and the audit. */
export function upkeepRoutes(parts: UpkeepRouteParts): Router {
  const router = express.Router();
  const { configuration, audit } = parts;
  const examine = oneAtATime(parts.examine);

  router.get('/configuration', async (_req, res) => {
    res.json(await configuration.view());
  });
  router.post('/configuration/reload', async (_req, res) => {
    res.json(await configuration.reload(callerOf(res).operator));
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
    const who = callerOf(res).operator;
    const line = { who, action: 'test_message', target: shop };
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
  router.get('/audit', async (req, res) => {
    const { before, limit = AUDIT_PAGE } = checked(auditQuerySchema, req.query);
    const lines = await parts.operator.auditLines({
      limit,
      ...(before !== undefined && { before }),
    });
    const last = lines.at(-1);
    const more = lines.length === limit && last !== undefined && last.no > 1;
    res.json({ lines, ...(more && { next: last.no }) } satisfies AuditPage);
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
