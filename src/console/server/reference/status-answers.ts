import { ruleSchema, severitySchema } from '../../../operations/alerts/alert.ts';
import { z } from 'zod';
import type { Incident } from '../../../operations/alerts/incident.ts';
import { CONDITION_KINDS, type ShownCondition } from '../../../operations/conditions.ts';
import type { GatewayStatus, InstanceStatus, ShopStatus } from '../../../observability/status.ts';
import { alert, answer, channel, count, named, text, time } from './answers.ts';

const queueFields = {
  queued: count,
  delivering: count,
  dead: count.describe('Given up or refused: an operator has to decide.'),
  held: count.describe('Not submitted until an operator releases them.'),
  suppressed: count,
};
const sockets = z.object({ chat: count, smtp: count });

const breaker = answer<ShopStatus['breakers'][number]>({
  part: z.enum(['messages', 'media']),
  state: z.enum(['closed', 'open', 'probing']).describe('`open`: deliveries are stopped.'),
  nextProbeAt: time().optional(),
  since: time('Since when it fails').optional(),
  recoveringSince: time('When an outage ended of which messages still wait').optional(),
  reason: z.string().optional(),
  cause: z.string().optional(),
  todo: z.string().optional(),
  words: text('What the platform says.').optional(),
});

const shop = z.object({
  shop: text('The configured name.'),
  shopId: z.string(),
  breakers: z.array(breaker),
  refusedAlike: z
    .array(z.object({ words: z.string(), since: time(), count }))
    .describe('Groups of messages that were refused in the same words.'),
  lastDeliveredAt: time().optional(),
  untried: z
    .literal(true)
    .optional()
    .describe('Nothing was delivered yet to this platform with this key.'),
  ...queueFields,
});

const instance = answer<InstanceStatus>({
  name: z.string(),
  isOwn: z.boolean().describe('Whether it is the gateway that answers.'),
  seenAgoMs: z.number(),
  host: z.string(),
  version: z.string(),
  uptimeMs: z.number(),
  acceptedPerMinute: z.number(),
  deliveredPerMinute: z.number(),
  sockets,
});

const condition = answer<ShownCondition>({
  id: text('Its kind and its subject.'),
  kind: z.enum(CONDITION_KINDS),
  severity: severitySchema,
  shop: text('The configured name.').optional(),
  part: z.enum(['messages', 'media']).optional(),
  since: time('When it began').optional(),
  sentence: text('What is wrong, in one line.'),
  remedy: text('What to do about it.'),
  words: text('What the platform says.').optional(),
  stopsIntake: z.boolean().describe('Whether this gateway refuses new messages meanwhile.'),
});

export const overview = named(
  z.object({
    at: time(),
    startedAt: time(),
    version: z.string(),
    demo: z.boolean(),
    deliveryPaused: z.boolean(),
    channels: z.array(
      z.object({
        channel,
        enabled: z.boolean(),
        acceptedPerMinute: z.number(),
        deliveredPerMinute: z.number(),
        refusedPerMinute: z.number(),
        accepted: count.describe('Since the start.'),
      }),
    ),
    latency: z
      .object({ p50: z.number(), p95: z.number(), p99: z.number(), count })
      .optional()
      .describe('Milliseconds from acceptance to delivery over 15 minutes; absent without any.'),
    queue: z.object({ ...queueFields, oldestQueuedAt: time().optional() }),
    shops: z.array(shop),
    disk: answer<GatewayStatus['disk']>({
      freeBytes: z.number().optional().describe('Absent where the file system does not say.'),
      totalBytes: z.number().optional(),
      reserveBytes: z.number().describe('With less free space, new messages are refused.'),
    }),
    certificate: z
      .object({
        subject: z.string(),
        endsAt: time(),
        selfSigned: z.boolean(),
        unusable: z
          .object({ found: z.string(), todo: z.string() })
          .optional()
          .describe('Why what stands in its files meanwhile cannot be used.'),
      })
      .optional(),
    sockets,
    instances: z
      .array(instance)
      .optional()
      .describe('The gateways with a common store; absent while the store admits one.'),
    refusedPages: z
      .array(
        z.object({
          shop: z.string(),
          origin: z.string(),
          isOwn: z.boolean().describe('Of the domain of the shop or of the gateway.'),
          at: time('When a page of it was last refused'),
        }),
      )
      .describe('Where pages show a chat and are not in its origins; since the start.'),
    conditions: z
      .array(condition)
      .describe('What is wrong now, the most severe first. An alert fires once it has lasted.'),
    alerts: z.array(alert).describe('The most severe first.'),
  }),
  'Overview',
  'The current state: queue, rates, shops, disk and alerts.',
);

const perChannel = z.object({
  email: z.number(),
  sms: z.number(),
  web_chat: z.number(),
});

export const history = named(
  z.object({
    stepMs: z.number(),
    points: z.array(
      z.object({
        at: time(),
        accepted: perChannel,
        delivered: perChannel,
        queued: z.number(),
        p50: z.number().optional(),
        p95: z.number().optional(),
      }),
    ),
  }),
  'History',
  'The last hour, one point for every 10 s, or the last day, one for every 2 min.',
);

const alertIncident = answer<Extract<Incident, { kind: 'alert' }>>({
  kind: z.literal('alert'),
  at: time('When it began'),
  until: time('When it ended; absent while it fires').optional(),
  key: z.string(),
  rule: ruleSchema,
  severity: z.enum(['warning', 'critical']),
  summary: z.string(),
  shop: z.string().optional(),
});

export const incidentList = named(
  z.object({
    incidents: z
      .array(
        z.union([
          alertIncident,
          z.object({ kind: z.literal('start'), at: time() }),
          z.object({
            kind: z.literal('reload'),
            at: time(),
            outcome: z.string(),
            who: z.string().optional().describe('An operator’s name, or `signal`.'),
          }),
        ]),
      )
      .describe('Newest first.'),
  }),
  'IncidentList',
  'The latest alerts, starts and reloads of this gateway.',
);

export const configurationView = named(
  z.object({
    file: z.string().optional(),
    loadedAt: time(),
    values: z
      .array(
        z.object({
          path: z.string(),
          value: text('A secret is `••••`, or empty.'),
          secret: z.boolean(),
          isDefault: z.boolean(),
          variable: text('The environment variable that set it.').optional(),
        }),
      )
      .describe('The effective values.'),
    pending: z
      .array(z.object({ path: z.string(), needsRestart: z.boolean() }))
      .nullable()
      .describe('Differences between file and running configuration; null if the file is invalid.'),
    warnings: z.array(z.string()),
    shops: z.array(
      z.object({
        shop: z.string(),
        platform: z.string(),
        email: z.object({ addresses: z.array(z.string()), smtp: z.string() }).optional(),
        sms: z.object({ numbers: z.array(z.string()), webhook: z.string() }).optional(),
        chat: z
          .object({
            key: z.string(),
            origins: z.array(z.string()),
            snippet: z.string(),
            demo: z.string().optional(),
          })
          .optional(),
      }),
    ),
  }),
  'Configuration',
  'The running configuration, with masked secrets.',
);

export const reloadResult = named(
  z.union([
    z.object({
      ok: z.literal(true),
      changed: z.array(z.string()),
      needsRestart: z.array(z.string()),
    }),
    z.object({
      ok: z.literal(false),
      mistakes: z.array(z.string()),
    }),
  ]),
  'ReloadResult',
  'What a reload changed, or the mistakes in the file.',
);
