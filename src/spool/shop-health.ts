import { z } from 'zod';
import type { HealthPart } from '../domain/health-part.ts';
import type { ShopId } from '../domain/ids.ts';
import type { Spool } from './spool.ts';

const probeSchema = z.object({
  begunAt: z.number(),
  at: z.number(),
  /** `nothing_to_try`: no message waited, and reads do not fail. */
  outcome: z.enum(['delivered', 'failed', 'nothing_to_try']),
  reason: z.exactOptional(z.string()),
});

const partSchema = z.object({
  /** `delivery/health.ts` has what each means. */
  state: z.enum(['steady', 'doubted', 'open']),
  /** A probe is under way. */
  probing: z.boolean(),
  /** Also reads fail that worked before: no message at all is submitted. */
  readsFail: z.exactOptional(z.literal(true)),
  since: z.exactOptional(z.number()),
  /** The latest failure, in the platform's words, which may quote a message: for operators only. */
  reason: z.exactOptional(z.string()),
  nextProbeAt: z.exactOptional(z.number()),
  /** Since the gateway's start. */
  lastDeliveredAt: z.exactOptional(z.number()),
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

/** How one endpoint of a shop's platform is. Times in milliseconds since the epoch. */
export type PartHealth = Readonly<z.output<typeof partSchema>>;
/** A refusal that many messages got alike. */
export type AlikeReport = Readonly<z.output<typeof alikeSchema>>;
/** How a shop's platform is, as the gateway told the store. */
export type ShopHealth = Readonly<z.output<typeof shopSchema>>;

export type { HealthPart };
export const PARTS: readonly HealthPart[] = ['messages', 'media'];

/** Undefined when no gateway has told yet, or one of another version has. */
export async function shopHealthOf(
  spool: Pick<Spool, 'shopHealth'>,
  shopId: ShopId,
): Promise<ShopHealth | undefined> {
  return readShopHealth(await spool.shopHealth(shopId));
}

export function readShopHealth(stored: unknown): ShopHealth | undefined {
  return shopSchema.safeParse(stored).data;
}
