import libmime from 'libmime';
import { cleanLine, cutText } from '../../../../runtime/clean-text.ts';
import { decodeWords } from '../head/header-text.ts';

const MAX_NAME_LENGTH = 120;
const MAX_EXTENSION_LENGTH = 16;

/**
 * A safe name for an attachment: decoded, without control, bidi and path characters, at most 120
 * characters with the extension kept, and with an extension made from the type when it has none.
 * `fallback` is used when nothing is left.
 */
export function safeFileName(
  raw: string | undefined,
  type: { readonly mime: string; readonly extension?: string },
  fallback: string,
): string {
  const bare = withoutPath(cleanLine(decodeWords(raw ?? ''), 1000));
  const { stem, extension } = splitName(bare);
  const suffix = extension === '' ? (type.extension ?? extensionOf(type.mime)) : extension;
  const dotted = suffix === '' ? '' : `.${suffix}`;
  const kept = cutText(stem === '' ? fallback : stem, MAX_NAME_LENGTH - dotted.length).trimEnd();
  return `${kept}${dotted}`;
}

function withoutPath(name: string): string {
  return (
    name
      .replace(/^.*[/\\](?=[^/\\])/s, '')
      // Reserved on some file systems, or of a meaning in HTML and Markdown.
      .replace(/[/\\:*?"<>|]/g, '_')
      .replace(/^[.\s]+/, '')
      .replace(/[.\s]{1,1000}$/, '')
  );
}

function splitName(name: string): { stem: string; extension: string } {
  const dot = name.lastIndexOf('.');
  const extension = dot > 0 ? name.slice(dot + 1) : '';
  const real = /^[a-z0-9]+$/i.test(extension) && extension.length <= MAX_EXTENSION_LENGTH;
  return real ? { stem: name.slice(0, dot), extension } : { stem: name, extension: '' };
}

function extensionOf(mime: string): string {
  if (mime === 'application/octet-stream') return 'bin';
  if (mime === 'message/rfc822') return 'eml';
  if (mime === 'text/plain') return 'txt';
  const extension: unknown = libmime.detectExtension(mime);
  return typeof extension === 'string' && /^[a-z0-9]{1,8}$/.test(extension) ? extension : 'bin';
}
