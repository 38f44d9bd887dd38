import {
  type Attachment,
  AttachmentUnavailable,
  type OpenAttachment,
} from '../intake/normalizer.ts';
import { PlatformError } from '../platform-api/errors.ts';
import type { Claimed } from '../spool/entry.ts';
import type { Spool } from '../spool/spool.ts';
import type { Channel } from '../types/channel.ts';
import { Paused, readAnswer } from './failure.ts';
import type { ShopPlatform } from './shop-platform.ts';
import type { Steps } from './steps.ts';

export interface Uploaded {
  readonly mediaIds: readonly string[];
  /** Lines for the content, one for each attachment that could not be had or uploaded. */
  readonly missing: readonly string[];
}

/** Statuses by which `/media/` refuses one file. */
const FILE_REFUSED: readonly number[] = [400, 413, 415, 422];

/**
 * Uploads what no earlier attempt has uploaded, one after the other, each as a stream. An id is
 * saved the moment it is known, so that a retry begins where this attempt ended.
 * @throws {Later} {Paused} {NotYet} {ConfigurationFault} the entry has to wait
 */
export async function uploadAttachments(
  claimed: Claimed,
  attachments: readonly Attachment[],
  shop: ShopPlatform,
  spool: Spool,
  steps: Steps,
  signal: AbortSignal,
): Promise<Uploaded> {
  const mediaIds: string[] = [];
  const missing: string[] = [];
  for (const attachment of attachments) {
    const known = claimed.media.get(attachment.part);
    const id = known ?? (await uploadOne(attachment, claimed.entry.channel, shop, steps, signal));
    if (id === undefined) {
      missing.push(attachment.placeholder);
      continue;
    }
    if (known === undefined) await spool.saveMedia(claimed.lease, attachment.part, id);
    mediaIds.push(id);
  }
  return { mediaIds, missing };
}

async function uploadOne(
  attachment: Attachment,
  channel: Channel,
  shop: ShopPlatform,
  steps: Steps,
  signal: AbortSignal,
): Promise<string | undefined> {
  const breaker = shop.breakers.media;
  if (breaker.allowance(1) === 0) throw new Paused('media', breaker.probeAt ?? 0);
  const file = await open(attachment, steps, signal);
  if (file === undefined) return undefined;
  if (breaker.isOpen) breaker.startProbe();
  try {
    const media = await shop.call('media', signal, () =>
      shop.client.uploadMedia(
        { ...file, permission: shop.settings.mediaPermission[channel] },
        signal,
      ),
    );
    breaker.succeeded();
    steps.add('uploaded', { bytes: file.size, type: file.type });
    return media.id;
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    if (!FILE_REFUSED.includes(error.status ?? 0)) {
      if (readAnswer(error) !== 'refused') await shop.assertAccepted(signal);
    }
    breaker.releaseProbe();
    steps.add('upload_refused', { bytes: file.size, type: file.type, status: error.status ?? 0 });
    return undefined;
  }
}

async function open(
  attachment: Attachment,
  steps: Steps,
  signal: AbortSignal,
): Promise<OpenAttachment | undefined> {
  try {
    return await attachment.open(signal);
  } catch (error) {
    if (!(error instanceof AttachmentUnavailable)) throw error;
    steps.add('attachment_unavailable');
    return undefined;
  }
}
