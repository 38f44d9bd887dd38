import {
  type Attachment,
  AttachmentUnavailable,
  type OpenAttachment,
} from '../intake/normalizer.ts';
import { PlatformError } from '../platform-api/errors.ts';
import type { Claimed, SavedMedia } from '../spool/entry.ts';
import type { Spool } from '../spool/spool.ts';
import type { Channel } from '../types/channel.ts';
import { Paused, readAnswer } from './failure.ts';
import type { AttemptRecord } from './attempt-record.ts';
import type { ShownImage } from './shown-images.ts';
import type { ShopPlatform } from './shop-platform.ts';
import type { Steps } from './steps.ts';

export interface Uploaded {
  readonly mediaIds: readonly string[];
  /** Images that the content shows: what stands there for each, and where it is to be read. */
  readonly shown: readonly ShownImage[];
  /** Lines for the content, one for each attachment that could not be had or uploaded. */
  readonly missing: readonly string[];
}

export interface UploadParts {
  readonly shop: ShopPlatform;
  readonly spool: Spool;
  readonly steps: Steps;
  readonly record: AttemptRecord;
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
  parts: UploadParts,
  signal: AbortSignal,
): Promise<Uploaded> {
  const mediaIds: string[] = [];
  const shown: ShownImage[] = [];
  const missing: string[] = [];
  for (const attachment of attachments) {
    const { part, shownAs } = attachment;
    const known = claimed.media.get(part);
    const { channel } = claimed.entry;
    const media =
      known ??
      (await parts.steps.timed('upload', () => uploadOne(attachment, channel, parts, signal)));
    if (known !== undefined) parts.record.attachment(attachment, undefined, known.id);
    if (shownAs !== undefined) shown.push({ shownAs, url: media?.url });
    if (media === undefined) {
      missing.push(attachment.placeholder);
      continue;
    }
    if (known === undefined) await parts.spool.saveMedia(claimed.lease, part, media);
    mediaIds.push(media.id);
  }
  return { mediaIds, shown, missing };
}

async function uploadOne(
  attachment: Attachment,
  channel: Channel,
  { shop, steps, record }: UploadParts,
  signal: AbortSignal,
): Promise<SavedMedia | undefined> {
  const breaker = shop.breakers.media;
  if (breaker.allowance(1) === 0) throw new Paused('media', breaker.probeAt ?? 0);
  const file = await open(attachment, steps, signal);
  if (file === undefined) {
    record.attachment(attachment, undefined, undefined);
    return undefined;
  }
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
    const { id, url, permission } = media;
    record.attachment(attachment, file, id);
    return { id, ...(permission === 'public' && url !== undefined && { url }) };
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    if (!FILE_REFUSED.includes(error.status ?? 0)) {
      if (readAnswer(error) !== 'refused') await shop.assertAccepted(signal);
    }
    breaker.releaseProbe();
    record.attachment(attachment, file, undefined);
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
