import { parseHeaderBlock } from '../../header-block.ts';
import type { AttachedFile } from '../email-job.ts';
import { safeFileName } from './file-names.ts';
import { readSubject } from '../head/header-text.ts';
import { sniffType } from './part-type.ts';
import type { Leaf } from './read-parts.ts';

/** The platform gets no more than this many files with one message. */
export const MAX_ATTACHMENTS = 50;

/** Those of a message, each image with what stands for its address when images are shown. */
export async function attachedFiles(
  leaves: readonly Leaf[],
  imageBase: string | undefined,
): Promise<readonly AttachedFile[]> {
  const files = await Promise.all(leaves.map(toAttachedFile));
  if (imageBase === undefined) return files;
  return files.map((file, index) =>
    file.type.startsWith('image/') ? { ...file, shownAs: `${imageBase}${index}/` } : file,
  );
}

/** An attachment of the message; `part` is the same on every attempt for the same content. */
export async function toAttachedFile(leaf: Leaf): Promise<AttachedFile> {
  const type = await sniffType(leaf);
  const { content, index, sha256 } = leaf;
  return {
    part: `${index}:${sha256.slice(0, 16)}`,
    name: safeFileName(nameOf(leaf), type, `attachment-${index + 1}`),
    type: type.mime,
    size: content.size,
    source: content.content,
  };
}

/** The message itself, for whoever has to look at what could not be read. */
export function rawFile(subject: string | undefined, size: number): AttachedFile {
  const type = { mime: 'message/rfc822', extension: 'eml' };
  return {
    part: 'raw',
    name: safeFileName(messageName(subject), type, 'message'),
    type: type.mime,
    size,
    source: { kind: 'raw' },
  };
}

function nameOf({ contentType, fileName, content }: Leaf): string | undefined {
  if (contentType === 'message/rfc822') {
    const subject = readSubject(parseHeaderBlock(content.start).first('subject'));
    return subject === undefined && fileName !== undefined ? fileName : messageName(subject);
  }
  if (contentType === 'text/calendar' && !/\.ics$/i.test(fileName ?? '')) return 'invite.ics';
  if (fileName !== undefined) return fileName;
  return contentType === 'message/delivery-status' ? 'delivery-status.txt' : undefined;
}

/** A slash in a subject separates no folders. */
function messageName(subject: string | undefined): string {
  return `${(subject ?? 'message').replace(/[/\\]/g, '-')}.eml`;
}
