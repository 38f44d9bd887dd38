import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import libmime from 'libmime';
import { missingAttachment } from '../../../domain/missing-attachment.ts';
import type { OpenAttachment } from '../../../intake/normalizer.ts';
import type { Logger } from '../../../observability/logger.ts';
import type { Metrics } from '../../../observability/metrics.ts';
import { fileKindAt } from '../../../runtime/file-kind.ts';
import type { FormFields } from '../form.ts';
import type { MessageIdentity } from '../stored.ts';
import type { TwilioAccount } from '../shop.ts';
import {
  type Download,
  type Downloader,
  type MediaReference,
  readMediaUrl,
} from '../providers/twilio/media.ts';
import { TwilioFailed } from '../providers/twilio/transport.ts';

/** Twilio sends no more with one message. */
const MAX_MEDIA = 10;
const MIME_TYPE = /^[a-z0-9][\w.+-]{0,60}\/[a-z0-9][\w.+-]{0,100}$/;

export interface MediaParts {
  readonly download: Downloader;
  /** Where files live between the download and the upload. */
  readonly scratchDir: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** A message's media, ready to be fetched, and the folder that they are fetched into. */
export interface MessageMedia {
  readonly media: readonly Medium[];
  /** Media URLs that name nothing of this message; only their placeholders will be submitted. */
  readonly refused: number;
  dispose(): Promise<void>;
}

/** The media that a message names in `MediaUrl0` to `MediaUrl9`. Nothing is fetched yet. */
export function readMedia(
  message: {
    readonly identity: MessageIdentity;
    readonly fields: FormFields;
    readonly account: TwilioAccount;
  },
  parts: MediaParts,
): MessageMedia {
  const scratch = new Scratch(parts.scratchDir);
  const media: Medium[] = [];
  let refused = 0;
  for (let index = 0; index < MAX_MEDIA; index += 1) {
    const url = message.fields.first(`MediaUrl${index}`);
    if (url === undefined || url === '') continue;
    const declared = mimeType(message.fields.first(`MediaContentType${index}`));
    const reference = readMediaUrl(url, message.identity, message.account);
    if (reference === undefined) refused += 1;
    const position = media.length + 1;
    media.push(new Medium({ ...message, reference, declared, position, scratch }, parts));
  }
  return { media, refused, dispose: () => scratch.dispose() };
}

interface MediumFacts {
  readonly identity: MessageIdentity;
  readonly account: TwilioAccount;
  /** Undefined when the URL names nothing of this message. */
  readonly reference: MediaReference | undefined;
  readonly declared: string | undefined;
  readonly position: number;
  readonly scratch: Scratch;
}

/** One of a message's media. */
export class Medium {
  /** The medium's SID; without one, its place in the message. */
  readonly part: string;
  /** The line that stands in the content in its place. */
  readonly placeholder: string;
  readonly #facts: MediumFacts;
  readonly #parts: MediaParts;

  constructor(facts: MediumFacts, parts: MediaParts) {
    const { reference, declared, position } = facts;
    const sid = reference?.mediaSid;
    this.part = sid ?? `media-${position}`;
    const named = sid === undefined ? [] : [sid];
    this.placeholder = missingAttachment('retrieved', declared ?? 'unknown type', ...named);
    this.#facts = facts;
    this.#parts = parts;
  }

  /**
   * One try; it starts at the MediaUrl, since what that redirects to expires.
   * @throws {TwilioFailed}
   */
  async fetch(signal: AbortSignal): Promise<OpenAttachment> {
    const { reference, account, scratch } = this.#facts;
    if (reference === undefined) throw new TwilioFailed('never', 'url-refused');
    const path = await scratch.newPath();
    try {
      const download = await this.#parts.download(reference.target, account, path, signal);
      // An empty file cannot be opened, and some platforms refuse it: the placeholder says more.
      if (download.size === 0) throw new TwilioFailed('never', 'empty');
      return await describe(path, download, this.#facts);
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
  }

  /** What an error says about it. */
  complaint({ message: reason }: TwilioFailed): string {
    return `Media ${this.part}: ${reason}`;
  }

  /**
   * Logs that it could not be fetched. Refused credentials also raise an alarm.
   * @param waitMs until the next try, if there will be one
   */
  report({ kind, message: reason }: TwilioFailed, waitMs?: number): void {
    const { metrics, logger } = this.#parts;
    const isAlarm = kind === 'credentials';
    if (isAlarm) metrics.alarms.inc({ alarm: 'sms_media_credentials' });
    logger[isAlarm ? 'error' : 'warn']('sms.media-failed', {
      messageSid: this.#facts.identity.messageSid,
      mediaSid: this.part,
      kind,
      reason,
      waitMs,
    });
  }
}

async function describe(
  path: string,
  download: Download,
  { declared, position }: MediumFacts,
): Promise<OpenAttachment> {
  const { type, extension } = await mediaTypeOf(
    path,
    declared ?? mimeType(download.contentType) ?? UNKNOWN,
  );
  const [family = ''] = type.split('/', 1);
  const kind = ['image', 'video', 'audio'].includes(family) ? family : 'file';
  return {
    name: `${kind}-${position}.${extension}`,
    type,
    size: download.size,
    stream: () => createReadStream(path),
  };
}

const UNKNOWN = 'application/octet-stream';

/** What phones send, where the library's table has an uncommon extension or none. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['audio/mp4', 'm4a'],
  ['text/x-vcard', 'vcf'],
  ['text/directory', 'vcf'],
  ['text/x-vcalendar', 'vcs'],
]);

/** Texts that bytes do not tell from each other. Nothing runs when one of these is opened. */
const INERT_TEXTS: ReadonlySet<string> = new Set([
  'text/plain',
  'text/csv',
  'text/markdown',
  'text/vcard',
  'text/x-vcard',
  'text/directory',
  'text/calendar',
  'text/x-vcalendar',
  'application/json',
]);

/**
 * What a downloaded medium is, by its bytes: the sender chooses what is declared of it, and it is
 * served with the type that it gets here. The declared type counts only among texts, which bytes
 * do not tell apart; everything else that is not recognized, and whatever begins like markup, is
 * `application/octet-stream`, which browsers neither show nor run.
 */
async function mediaTypeOf(
  path: string,
  declared: string,
): Promise<{ readonly type: string; readonly extension: string }> {
  const found = await fileKindAt(path);
  const isShown =
    found.kind === 'recognized' || (found.kind === 'text' && found.type?.startsWith('text/'));
  if (isShown && found.type !== undefined && found.extension !== undefined) {
    const { type } = found;
    return { type, extension: EXTENSIONS.get(type) ?? found.extension };
  }
  const isText = found.kind === 'text' && found.type === undefined && found.markup !== 'start';
  const type = isText && INERT_TEXTS.has(declared) ? declared : UNKNOWN;
  return { type, extension: EXTENSIONS.get(type) ?? libmime.detectExtension(type) };
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
