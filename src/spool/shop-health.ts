import { z } from 'zod';
import type { Endpoint } from '../domain/endpoint.ts';
import type { ShopId } from '../domain/ids.ts';
import { type Reason, reasonOf } from '../domain/reasons.ts';
import type { Spool } from './spool.ts';

const reasonSchema = z
  .object({ code: z.string(), params: z.optional(z.unknown()) })
  .transform(({ code, params }, { issues, value }): Reason => {
    const reason = reasonOf(code, params);
    if (reason !== undefined) return reason;
    issues.push({ code: 'custom', message: 'not a known reason', input: value });
    return z.NEVER;
  });

const probeSchema = z.object({
  begunAt: z.number(),
  at: z.number(),
  /** `nothing_to_try`: no message waited, and reads do not fail. */
  outcome: z.enum(['delivered', 'failed', 'nothing_to_try']),
  reason: z.exactOptional(reasonSchema),
});

const partSchema = z.object({
  /** `delivery/health.ts` defines the states. */
  state: z.enum(['steady', 'doubted', 'open']),
  /** A probe is in flight. */
  probing: z.boolean(),
  /** Reads that worked before fail, too, so no message is submitted. */
  readsFail: z.exactOptional(z.literal(true)),
  since: z.exactOptional(z.number()),
  /** The latest failure. */
  reason: z.exactOptional(reasonSchema),
  nextProbeAt: z.exactOptional(z.number()),
  /** An outage ended then, and what waited is sent step by step. */
  recoveringSince: z.exactOptional(z.number()),
  /** Since the gateway's start, also to an earlier platform of the shop or with an earlier key. */
  lastDeliveredAt: z.exactOptional(z.number()),
  /** Nothing was delivered yet to this platform with this key. */
  untried: z.exactOptional(z.literal(true)),
  /** The latest probe that has ended. */
  lastProbe: z.exactOptional(probeSchema),
});

const alikeSchema = z.object({
  /** Status, code and field names. */
  words: z.string(),
  since: z.number(),
  count: z.number(),
});

const shopSchema = z.object({
  messages: partSchema,
  media: partSchema,
  refusedAlike: z.array(alikeSchema).readonly(),
});

/** The health of one endpoint of a shop's platform. Times in milliseconds since the epoch. */
export type EndpointHealth = Readonly<z.output<typeof partSchema>>;
/** A refusal that many messages got. */
export type AlikeReport = Readonly<z.output<typeof alikeSchema>>;
/** The health of a shop's platform, as the gateway stored it. */
export type ShopHealth = Readonly<z.output<typeof shopSchema>>;

export const ENDPOINTS: readonly Endpoint[] = ['messages', 'media'];

/** Undefined when no gateway has stored it yet, or one of another version has. */
export async function shopHealthOf(
  spool: Pick<Spool, 'shopHealth'>,
  shopId: ShopId,
): Promise<ShopHealth | undefined> {
  return readShopHealth(await spool.shopHealth(shopId));
}

export function readShopHealth(stored: unknown): ShopHealth | undefined {
  return shopSchema.safeParse(stored).data;
}
