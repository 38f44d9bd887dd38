import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import libmime from 'libmime';
import type { Reason } from '../../../domain/reasons.ts';
import { missingAttachment, type OpenAttachment } from '../../../intake/normalizer.ts';
import type { Logger } from '../../../observability/logger.ts';
import type { Metrics } from '../../../observability/metrics.ts';
import { fileKindAt } from '../../../runtime/file-kind.ts';
import type {
  Download,
  Downloader,
  MediaReference,
  MediaSource,
  ProviderAccount,
  ProviderTexts,
  TextMessage,
} from '../provider.ts';
import { ProviderFailed } from '../providers/requests.ts';

const MIME_TYPE = /^[a-z0-9][\w.+-]{0,60}\/[a-z0-9][\w.+-]{0,100}$/;

export interface MediaParts {
  readonly download: Downloader;
  /** The folder for files between download and upload. */
  readonly scratchDir: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/** A message's media, ready to be fetched, and the folder for them. */
export interface MessageMedia {
  readonly media: readonly Medium[];
  /** Media URLs that do not belong to this message; only their placeholders are submitted. */
  readonly refused: number;
  dispose(): Promise<void>;
}

/**
 * The media of a message. Fetches nothing yet.
 * @param of with the account whose credentials are used; one of another provider has none of use
 */
export function readMedia(
  of: {
    readonly message: TextMessage;
    readonly provider: ProviderTexts;
    readonly account: ProviderAccount;
  },
  parts: MediaParts,
): MessageMedia {
  const { message, provider, account } = of;
  const scratch = new Scratch(parts.scratchDir);
  const isOurs = account.provider === provider.name;
  const media = message.media.map((reference, index) => {
    const source = isOurs ? provider.mediaSource(reference, message, account) : undefined;
    const position = index + 1;
    return new Medium({ messageId: message.id, reference, source, position, scratch }, parts);
  });
  const refused = media.filter(({ isRefused }) => isRefused).length;
  return { media, refused, dispose: () => scratch.dispose() };
}

interface MediumFacts {
  readonly messageId: string;
  readonly reference: MediaReference;
  /** Undefined if the URL does not belong to this message. */
  readonly source: MediaSource | undefined;
  readonly position: number;
  readonly scratch: Scratch;
}

/** One of a message's media. */
export class Medium {
  /** The provider's id of the medium; without one, its index in the message. */
  readonly part: string;
  /** Tells it from the media of other messages. */
  readonly identity: string;
  /** The line in the content that replaces it. */
  readonly placeholder: string;
  readonly isRefused: boolean;
  readonly #facts: MediumFacts;
  readonly #declared: string | undefined;
  readonly #parts: MediaParts;

  constructor(facts: MediumFacts, parts: MediaParts) {
    const { reference, source, position } = facts;
    this.part = source?.id ?? `media-${position}`;
    this.identity = source === undefined ? this.part : (source.id ?? reference.url);
    this.isRefused = source === undefined;
    this.#declared = mimeType(reference.contentType);
    const named = source?.id === undefined ? [] : [source.id];
    this.placeholder = missingAttachment('retrieved', this.#declared ?? 'unknown type', ...named);
    this.#facts = facts;
    this.#parts = parts;
  }

  /**
   * Tries once, starting at the medium's URL, because the target of a redirect expires.
   * @throws {ProviderFailed}
   */
  async fetch(signal: AbortSignal): Promise<OpenAttachment> {
    const { source, position, scratch } = this.#facts;
    if (source === undefined) throw new ProviderFailed('never', 'url_refused');
    const path = await scratch.newPath();
    try {
      const download = await this.#parts.download(source, path, signal);
      // An empty file cannot be opened and some platforms refuse it, so the placeholder is more
      // useful.
      if (download.size === 0) throw new ProviderFailed('never', 'empty');
      return await describe(path, download, { declared: this.#declared, position });
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
  }

  /** Why the entry waits for it. */
  reasonOf({ message: failure }: ProviderFailed): Reason {
    return { code: 'media_failed', params: { medium: this.part, failure } };
  }

  /**
   * Logs that it could not be fetched. Refused credentials also raise an alarm.
   * @param waitMs the time until the next try, if there is one
   */
  report({ kind, message: reason }: ProviderFailed, waitMs?: number): void {
    const { metrics, logger } = this.#parts;
    const isAlarm = kind === 'credentials';
    if (isAlarm) metrics.alarms.inc({ alarm: 'sms_media_credentials' });
    logger[isAlarm ? 'error' : 'warn']('sms.media_failed', {
      messageSid: this.#facts.messageId,
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
  { declared, position }: { readonly declared: string | undefined; readonly position: number },
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

/** Extensions of files from phones, for which the library's table has an uncommon one or none. */
const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['audio/mp4', 'm4a'],
  ['text/x-vcard', 'vcf'],
  ['text/directory', 'vcf'],
  ['text/x-vcalendar', 'vcs'],
]);

/** Text types that cannot be told apart by their bytes. Opening one of these executes nothing. */
const INERT_TEXTS: ReadonlySet<string> = new Set(
  `text/plain text/csv text/markdown text/vcard text/x-vcard text/directory text/calendar
  text/x-vcalendar application/json`.split(/\s+/),
);

/**
 * The type of a downloaded medium, by its bytes: the sender chooses the declared type, and the
 * medium is served with the type determined here. The declared type is used only for texts, which
 * cannot be told apart by their bytes. Unrecognized files, and files that begin like markup, become
 * `application/octet-stream`, which browsers neither display nor execute.
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

/** The type of a Content-Type without its parameters; undefined if it is malformed. */
function mimeType(value: string | undefined): string | undefined {
  const type = value?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return MIME_TYPE.test(type) ? type : undefined;
}

/** The folder of one attempt, created with the first file. */
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
