import { ruleSchema } from '../../../operations/alerts/alert.ts';
import { z } from 'zod';
import type * as Contract from '../../contract.ts';
import { alert, answer, channel, count, named, text, time } from './answers.ts';

type Overview = Contract.Overview;
type Shop = Contract.ShopFigures;

const queueFields = {
  queued: count,
  delivering: count,
  dead: count.describe('Given up or refused: an operator has to decide.'),
  held: count.describe('Not submitted until an operator releases them.'),
  suppressed: count,
};
const sockets = z.object({ chat: count, smtp: count });

const breaker = answer<Shop['breakers'][number]>({
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

const shop = answer<Shop>({
  shop: text('The configured name.'),
  shopId: z.string(),
  breakers: z.array(breaker),
  refusedAlike: z
    .array(z.object({ words: z.string(), since: time(), count }))
    .describe('Groups of messages that were refused in the same words.'),
  lastDeliveredAt: time().optional(),
  ...queueFields,
});

const instance = answer<NonNullable<Overview['instances']>[number]>({
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

export const overview = named(
  answer<Overview>({
    at: time(),
    startedAt: time(),
    version: z.string(),
    demo: z.boolean(),
    deliveryPaused: z.boolean(),
    channels: z.array(
      answer<Contract.ChannelFigures>({
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
    queue: answer<Overview['queue']>({ ...queueFields, oldestQueuedAt: time().optional() }),
    shops: z.array(shop),
    disk: answer<Overview['disk']>({
      freeBytes: z.number().optional().describe('Absent where the file system does not say.'),
      totalBytes: z.number().optional(),
      reserveBytes: z.number().describe('With less free space, new messages are refused.'),
    }),
    certificate: z
      .object({ subject: z.string(), endsAt: time(), selfSigned: z.boolean() })
      .optional(),
    sockets,
    instances: z
      .array(instance)
      .optional()
      .describe('The gateways with a common store; absent while the store admits one.'),
    alerts: z.array(alert).describe('The most severe first.'),
  }),
  'Overview',
  'The current state: queue, rates, shops, disk and alerts.',
);

const perChannel = answer<Contract.HistoryPoint['accepted']>({
  email: z.number(),
  sms: z.number(),
  web_chat: z.number(),
});

export const history = named(
  answer<Contract.History>({
    stepMs: z.number(),
    points: z.array(
      answer<Contract.HistoryPoint>({
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

const alertIncident = answer<Extract<Contract.Incident, { kind: 'alert' }>>({
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
  answer<Contract.IncidentList>({
    incidents: z
      .array(
        z.union([
          alertIncident,
          z.object({ kind: z.literal('start'), at: time() }),
          z.object({ kind: z.literal('reload'), at: time(), outcome: z.string() }),
        ]),
      )
      .describe('Newest first.'),
  }),
  'IncidentList',
  'The latest alerts, starts and reloads of this gateway.',
);

type View = Contract.ConfigurationView;
type ShopView = View['shops'][number];

export const configurationView = named(
  answer<View>({
    file: z.string().optional(),
    loadedAt: time(),
    values: z
      .array(
        answer<View['values'][number]>({
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
      answer<ShopView>({
        shop: z.string(),
        platform: z.string(),
        email: z.object({ addresses: z.array(z.string()), smtp: z.string() }).optional(),
        sms: z.object({ numbers: z.array(z.string()), webhook: z.string() }).optional(),
        chat: answer<NonNullable<ShopView['chat']>>({
          key: z.string(),
          origins: z.array(z.string()),
          snippet: z.string(),
          demo: z.string().optional(),
        }).optional(),
      }),
    ),
  }),
  'Configuration',
  'The running configuration, with masked secrets.',
);

type Reloaded = Contract.ReloadResult;

export const reloadResult = named(
  z.union([
    answer<Extract<Reloaded, { ok: true }>>({
      ok: z.literal(true),
      changed: z.array(z.string()),
      needsRestart: z.array(z.string()),
    }),
    answer<Extract<Reloaded, { ok: false }>>({
      ok: z.literal(false),
      mistakes: z.array(z.string()),
    }),
  ]),
  'ReloadResult',
  'What a reload changed, or the mistakes in the file.',
);
