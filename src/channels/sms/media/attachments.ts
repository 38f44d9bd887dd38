import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { FileTypeParser } from 'file-type';
import libmime from 'libmime';
import pRetry from 'p-retry';
import {
  type Attachment,
  AttachmentUnavailable,
  NotYet,
  type OpenAttachment,
} from '../../../intake/normalizer.ts';
import type { Logger } from '../../../observability/logger.ts';
import type { Metrics } from '../../../observability/metrics.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { FormFields } from '../form.ts';
import type { MessageIdentity } from '../message.ts';
import type { TwilioAccount } from '../shops.ts';
import { type Download, DownloadFailed, type Downloader } from './download.ts';
import { type MediaReference, readMediaUrl } from './media-url.ts';
import type { Patience } from './patience.ts';

/** Twilio sends no more with one message. */
const MAX_MEDIA = 10;
const SNIFF_TIMEOUT_MS = 10_000;
/** What phones send, where the library's table has an uncommon extension or none. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['image/jpeg', 'jpg'],
  ['image/jpg', 'jpg'],
  ['image/heic', 'heic'],
  ['audio/amr', 'amr'],
  ['audio/mpeg', 'mp3'],
  ['audio/ogg', 'ogg'],
  ['audio/mp4', 'm4a'],
]);
const MIME_TYPE = /^[a-z0-9][\w.+-]{0,60}\/[a-z0-9][\w.+-]{0,100}$/;

export interface MediaParts {
  readonly download: Downloader;
  readonly patience: Patience;
  /** Where files live between the download and the upload. */
  readonly scratchDir: string;
  /** Tries within the first attempt at the entry: 4 more after 1, 3.2, 10 and 32 s by default. */
  readonly retry: { readonly retries: number; readonly minTimeoutMs: number };
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** A message's media, ready to be fetched, and the folder that they are fetched into. */
export interface MessageMedia {
  readonly attachments: readonly Attachment[];
  /** Media URLs that name nothing of this message; only their placeholders will be submitted. */
  readonly refused: number;
  dispose(): Promise<void>;
}

/** The media that a message names in `MediaUrl0` to `MediaUrl9`. Nothing is fetched yet. */
export function mediaOf(
  message: {
    readonly identity: MessageIdentity;
    readonly receivedAt: number;
    readonly fields: FormFields;
    readonly account: TwilioAccount;
  },
  parts: MediaParts,
): MessageMedia {
  const scratch = new Scratch(parts.scratchDir);
  const attachments: Attachment[] = [];
  let refused = 0;
  for (let index = 0; index < MAX_MEDIA; index += 1) {
    const url = message.fields.first(`MediaUrl${index}`);
    if (url === undefined || url === '') continue;
    const declared = mimeType(message.fields.first(`MediaContentType${index}`));
    const reference = readMediaUrl(url, message.identity, message.account);
    const position = attachments.length + 1;
    if (reference === undefined) {
      refused += 1;
      attachments.push(unreachable(position, declared));
    } else {
      attachments.push(
        new MediaAttachment({ ...message, ...reference, declared, position, scratch }, parts),
      );
    }
  }
  return { attachments, refused, dispose: () => scratch.dispose() };
}

const placeholder = (type: string | undefined, mediaSid?: string): string =>
  `[attachment could not be retrieved: ${type ?? 'unknown type'}${mediaSid === undefined ? '' : `, ${mediaSid}`}]`;

const unreachable = (position: number, declared: string | undefined): Attachment => ({
  part: `media-${position}`,
  placeholder: placeholder(declared),
  open: () => Promise.reject(new AttachmentUnavailable('The media URL is not of this message')),
});

interface Medium extends MediaReference {
  readonly identity: MessageIdentity;
  readonly receivedAt: number;
  readonly account: TwilioAccount;
  readonly declared: string | undefined;
  readonly position: number;
  readonly scratch: Scratch;
}

class MediaAttachment implements Attachment {
  readonly part: string;
  readonly placeholder: string;
  readonly #medium: Medium;
  readonly #parts: MediaParts;

  constructor(medium: Medium, parts: MediaParts) {
    this.part = medium.mediaSid;
    this.placeholder = placeholder(medium.declared, medium.mediaSid);
    this.#medium = medium;
    this.#parts = parts;
  }

  async open(signal: AbortSignal): Promise<OpenAttachment> {
    const { retries, minTimeoutMs } = this.#parts.retry;
    try {
      const opened = await pRetry(() => this.#try(signal), {
        // On the schedule each attempt is one try, so that waiting takes no room from others.
        retries: this.#parts.patience.waitsFor(this.part) ? 0 : retries,
        minTimeout: minTimeoutMs,
        factor: Math.sqrt(10), // 1, 3, 10, 30 s
        shouldRetry: ({ error }) => error instanceof DownloadFailed && error.kind === 'later',
        signal,
      });
      this.#parts.patience.forget(this.part);
      return opened;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof DownloadFailed) throw this.#verdict(error);
      throw error;
    }
  }

  /** One try; it starts at the MediaUrl, since what that redirects to expires. */
  async #try(signal: AbortSignal): Promise<OpenAttachment> {
    const { target, account, scratch } = this.#medium;
    const path = await scratch.newPath();
    try {
      const download = await this.#parts.download(target, account, path, signal);
      return await describe(path, download, this.#medium);
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
  }

  #verdict(failure: DownloadFailed): NotYet | AttachmentUnavailable {
    const { mediaSid, identity, receivedAt } = this.#medium;
    const { patience, clock, metrics, logger } = this.#parts;
    const { kind, message: reason } = failure;
    if (kind === 'credentials') metrics.alarms.inc({ alarm: 'sms_media_credentials' });
    const waitMs =
      kind === 'never' ? undefined : patience.wait(mediaSid, receivedAt, clock(), failure);
    if (waitMs === undefined) patience.forget(mediaSid);
    logger[kind === 'credentials' ? 'error' : 'warn']('sms.media-failed', {
      messageSid: identity.messageSid,
      mediaSid,
      kind,
      reason,
      waitMs,
    });
    const what = `Media ${mediaSid}: ${reason}`;
    return waitMs === undefined
      ? new AttachmentUnavailable(what, { cause: failure })
      : new NotYet(what, waitMs, { cause: failure });
  }
}

async function describe(path: string, download: Download, medium: Medium): Promise<OpenAttachment> {
  const sniffed = await sniff(path);
  const type =
    sniffed?.mime ??
    medium.declared ??
    mimeType(download.contentType) ??
    'application/octet-stream';
  const extension = sniffed?.ext ?? EXTENSIONS.get(type) ?? libmime.detectExtension(type);
  const [family = ''] = type.split('/', 1);
  const kind = ['image', 'video', 'audio'].includes(family) ? family : 'file';
  return {
    name: `${kind}-${medium.position}.${extension}`,
    type,
    size: download.size,
    stream: () => createReadStream(path),
  };
}

/** A broken file has no type of its own; what was declared stands. */
async function sniff(path: string) {
  try {
    const parser = new FileTypeParser({ signal: AbortSignal.timeout(SNIFF_TIMEOUT_MS) });
    return await parser.fromFile(path);
  } catch {
    return undefined;
  }
}

/** The type of a Content-Type without its parameters; undefined unless it is well-formed. */
function mimeType(value: string | undefined): string | undefined {
  const type = value?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return MIME_TYPE.test(type) ? type : undefined;
}

/** A folder of one attempt, made when the first file needs it. */
class Scratch {
  readonly #parent: string;
  #folder: Promise<string> | undefined;
  #files = 0;

  constructor(parent: string) {
    this.#parent = parent;
  }

  async newPath(): Promise<string> {
    this.#folder ??= this.#make();
    this.#files += 1;
    const name = String(this.#files);
    return join(await this.#folder, name);
  }

  async #make(): Promise<string> {
    await mkdir(this.#parent, { recursive: true, mode: 0o700 });
    return mkdtemp(join(this.#parent, 'sms-'));
  }

  async dispose(): Promise<void> {
    const folder = await this.#folder?.catch(() => undefined);
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  }
}
