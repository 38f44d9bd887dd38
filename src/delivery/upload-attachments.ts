import {
  type Attachment,
  AttachmentLate,
  AttachmentUnavailable,
  type OpenAttachment,
} from '../intake/normalizer.ts';
import { PlatformError } from '../platform-api/errors.ts';
import { isUsableId } from '../platform-api/resources.ts';
import type { SavedMedia } from '../spool/entry.ts';
import { MediaPaused, readAnswer } from './answer.ts';
import type { ShownImage, Uploaded } from './compose.ts';
import { assertNoWait, forbidden, type Work } from './work.ts';

/** Then the message is delivered with a line in place of the file; an alarm was raised before. */
const FORBIDDEN_AT_MOST = 3;

/**
 * Uploads the attachments that no earlier attempt has uploaded, one after the other, each as a
 * stream. Each media id is saved as soon as it is known, so that a retry continues where this
 * attempt ended.
 * @param anew upload attachments again that have a saved id
 * @throws {Later} {Forbidden} {MediaPaused} the entry has to wait
 * @throws {RawDamaged} an upload of the chat is not what was received
 */
export async function uploadAttachments(
  work: Work,
  attachments: readonly Attachment[],
  { anew }: { readonly anew: boolean },
): Promise<Uploaded> {
  const { claimed, record, steps, spool } = work;
  const uploaded = { mediaIds: [] as string[], shown: [] as ShownImage[], missing: [] as string[] };
  const late: string[] = [];
  for (const attachment of attachments) {
    const { part, shownAs, placeholder } = attachment;
    const known = anew ? undefined : claimed.media.get(part);
    if (known !== undefined) record.attachment(attachment, undefined, known.id);
    const media = known ?? (await steps.timed('upload', () => uploadOne(work, attachment)));
    const saved = media === 'late' ? undefined : media;
    if (media === 'late') late.push(part);
    if (shownAs !== undefined) uploaded.shown.push({ shownAs, url: saved?.url });
    if (saved === undefined) {
      uploaded.missing.push(placeholder);
      continue;
    }
    if (known === undefined) await spool.saveMedia(claimed.lease, part, saved);
    uploaded.mediaIds.push(saved.id);
  }
  return { ...uploaded, late };
}

async function uploadOne(
  work: Work,
  attachment: Attachment,
): Promise<SavedMedia | 'late' | undefined> {
  const { shop, requests, steps, record, claimed, signal, probes } = work;
  if (shop.health.media.state === 'open' && probes !== 'media') {
    throw new MediaPaused('uploads are paused');
  }
  const file = await open(work, attachment, signal);
  if (file === undefined || file === 'late') {
    record.attachment(attachment, undefined, undefined);
    return file;
  }
  const permission = shop.settings.mediaPermission[claimed.entry.channel];
  try {
    assertNoWait(work);
    const media = await requests.call('media', (client, within) =>
      client.uploadMedia({ ...file, permission }, within),
    );
    shop.health.media.delivered(claimed.entry.lane);
    if (!isUsableId(media.id)) {
      record.attachment(attachment, file, undefined);
      steps.add('upload_refused', { bytes: file.size, type: file.type, reason: 'unusable_id' });
      return undefined;
    }
    steps.add('uploaded', { bytes: file.size, type: file.type });
    record.attachment(attachment, file, media.id);
    const isPublic = media.permission === 'public' && media.url !== undefined;
    return { id: media.id, ...(isPublic && { url: media.url }) };
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    if (readAnswer(error) === 'forbidden') await assertForbiddenForGood(work, error);
    record.attachment(attachment, file, undefined);
    steps.add('upload_refused', { bytes: file.size, type: file.type, status: error.status ?? 0 });
    return undefined;
  }
}

/**
 * Returns when this upload was forbidden often enough while others succeeded.
 * @throws {Forbidden} the entry waits
 */
async function assertForbiddenForGood(work: Work, error: PlatformError): Promise<void> {
  const refusal = await forbidden(work, 'media', error);
  if (refusal.isTheShop || work.notes.value.forbidden.media < FORBIDDEN_AT_MOST) throw refusal;
}

async function open(
  { steps }: Work,
  attachment: Attachment,
  signal: AbortSignal,
): Promise<OpenAttachment | 'late' | undefined> {
  try {
    return await attachment.open(signal);
  } catch (error) {
    if (error instanceof AttachmentLate) {
      steps.add('attachment_late');
      return 'late';
    }
    if (!(error instanceof AttachmentUnavailable)) throw error;
    steps.add('attachment_unavailable');
    return undefined;
  }
}
