import type { IncomingMessage } from 'node:http';
import { finished, type Readable } from 'node:stream';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { cutText } from '../../runtime/clean-text.ts';
import { type MediaPermission, mediaPermissionSchema } from '../../platform-api/schemas.ts';
import {
  ApiError,
  invalidRequest,
  isSystemOrSqliteError,
  unreadableBody,
  unsupportedBody,
} from '../api-error.ts';
import type { MediaFolder, StoredFile } from '../store/media.ts';

export interface Upload {
  readonly file: StoredFile;
  readonly name: string;
  /** The type that the client declared. */
  readonly type: string;
  readonly permission: MediaPermission;
}

/** The limit of most file systems; a longer name would not fit into a header either. */
const NAME_MAX_CHARS = 255;

interface Parts {
  stored?: Promise<StoredFile>;
  content?: Readable;
  name: string;
  type: string;
  permission: string;
  tooLarge: boolean;
  /** How many parts are named `file`. */
  files: number;
  /** The error when there is no file. */
  missing: string;
}

/**
 * Reads a multipart upload (API §4.8). The part `file` is streamed to the folder; the field
 * `permission` may come before or after it.
 * @throws {ApiError} 400, 413, 415; nothing is stored then
 */
export async function readUpload(
  request: IncomingMessage,
  folder: MediaFolder,
  maxBytes: number,
): Promise<Upload> {
  const form = createForm(request, maxBytes);
  const parts: Parts = {
    name: '',
    type: '',
    permission: 'public',
    tooLarge: false,
    files: 0,
    missing: 'required',
  };
  form.on('field', (name, value) => {
    if (name === 'permission') parts.permission = value;
    if (name !== 'file') return;
    parts.missing = 'expected a file, with a filename, not a field';
    parts.files += 1;
  });
  // The type declarations require a filename, but a part may lack one.
  form.on('file', (field, content, name: string | undefined, _encoding, type) => {
    // Without a listener, a part that ends early would crash the process.
    content.on('error', () => undefined);
    if (field === 'file') parts.files += 1;
    if (field !== 'file' || parts.stored) {
      content.resume();
      return;
    }
    parts.name = cutText(name ?? '', NAME_MAX_CHARS);
    parts.type = type;
    parts.content = content;
    content.on('limit', () => (parts.tooLarge = true));
    parts.stored = folder.store(content);
    // A failed store stops reading, and the form would wait forever.
    parts.stored.catch(() => form.destroy());
  });
  const complete = await parse(request, form);
  return complete ? await accept(parts, folder, maxBytes) : await refuse(parts, folder);
}

/**
 * Whether the whole form was read. Does not use `pipeline`, which destroys the request when the form
 * fails, and with it the connection for the answer.
 */
async function parse(request: IncomingMessage, form: BusboyInstance): Promise<boolean> {
  const complete = await new Promise<boolean>((resolve) => {
    finished(form, (error) => resolve(!error));
    finished(request, { writable: false }, (error) => {
      if (error) form.destroy();
    });
    request.pipe(form);
  });
  request.unpipe(form);
  return complete;
}

async function accept(parts: Parts, folder: MediaFolder, maxBytes: number): Promise<Upload> {
  const file = await parts.stored;
  if (file === undefined) {
    throw invalidRequest({ file: parts.missing });
  }
  const permission = mediaPermissionSchema.safeParse(parts.permission);
  if (permission.success && !parts.tooLarge && parts.files === 1) {
    return { file, name: parts.name, type: parts.type, permission: permission.data };
  }
  await folder.remove(file.id);
  if (parts.tooLarge) throw tooLarge(maxBytes);
  if (parts.files > 1) throw invalidRequest({ file: 'expected one file' });
  throw invalidRequest({
    permission: 'expected private or public',
  });
}

/** The form was incomplete, or the disk failed, in which case that error is thrown. */
async function refuse(parts: Parts, folder: MediaFolder): Promise<never> {
  const broken = unreadableBody('broke off');
  parts.content?.destroy(broken);
  const file = await parts.stored?.catch((error: unknown) => {
    if (isSystemOrSqliteError(error)) throw error;
    return undefined;
  });
  if (file !== undefined) await folder.remove(file.id);
  throw broken;
}

export const tooLarge = (maxBytes: number) =>
  new ApiError(413, 'the file is too large', { file: `expected at most ${maxBytes} bytes` });

function createForm(request: IncomingMessage, maxBytes: number): BusboyInstance {
  const type = request.headers['content-type'] ?? '';
  if (!/^multipart\/form-data\s*;/i.test(type)) {
    throw unsupportedBody('expected a body of type multipart/form-data');
  }
  try {
    return new Busboy({
      headers: { ...request.headers, 'content-type': type },
      limits: {
        fileSize: maxBytes,
        files: 5,
        fields: 20,
        parts: 25,
        fieldSize: 1000,
        headerPairs: 50,
      },
      highWaterMark: 1024 * 1024,
      fileHwm: 1024 * 1024,
    });
  } catch {
    throw unreadableBody('expected a boundary in the Content-Type');
  }
}
