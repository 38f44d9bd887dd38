import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  statSync,
} from 'node:fs';
import { MAX_PICTURE_BYTES, MAX_TEXTS_BYTES } from '../domain/widget-files.ts';
import { type Located, scalarsAt } from './layers.ts';
import { showPath, whyUnreadable, type Mistake, type Path } from './mistakes.ts';
import type { SourceNode } from './source-tree.ts';

/** A private key that stands in its place is a secret. */
const isPath = (text: string): boolean => text.length <= 255 && !/[\r\n]|-----/.test(text);

/** Those of a whole system are less than 300 KB. */
const MAX_AUTHORITIES_BYTES = 4_000_000;

/** What is wrong with a file besides that it cannot be read. */
type Look = (path: string) => string | undefined;

const mustOpen: Look = (path) => {
  accessSync(path, constants.R_OK);
  return statSync(path).isDirectory() ? 'a folder' : undefined;
};

/** A pipe would block a running gateway that reloads its configuration. */
function notReadable(path: string, maxBytes: number): string | undefined {
  const stats = statSync(path);
  if (stats.isDirectory()) return 'a folder';
  if (!stats.isFile()) return 'a pipe or a device';
  return stats.size > maxBytes ? `${stats.size} bytes` : undefined;
}

function picture(path: string): string | undefined {
  const wrong = notReadable(path, MAX_PICTURE_BYTES);
  if (wrong !== undefined) return wrong;
  const head = Buffer.alloc(100);
  const file = openSync(path, 'r');
  try {
    readSync(file, head);
  } finally {
    closeSync(file);
  }
  const begin = head.toString('latin1');
  if (PICTURE.test(begin)) return undefined;
  return begin.trimStart().startsWith('<')
    ? 'markup, such as SVG, which is not sent to visitors'
    : 'none of these, whatever its name says';
}

/** The first bytes of PNG, JPEG, GIF, WebP and AVIF. */
const PICTURE = /^(?:\x89PNG|\xff\xd8|GIF8|RIFF[^]{4}WEBP|[^]{4}ftypavi[fs])/;

function json(path: string): string | undefined {
  const wrong = notReadable(path, MAX_TEXTS_BYTES);
  if (wrong !== undefined) return wrong;
  try {
    const texts: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof texts !== 'object' || texts === null || Array.isArray(texts)) return 'no object';
    return Object.values(texts).every((text) => typeof text === 'string')
      ? undefined
      : 'values that are no texts: each key has one text, without groups';
  } catch (error) {
    if (error instanceof SyntaxError) return 'no JSON';
    throw error;
  }
}

function authorities(path: string): string | undefined {
  const wrong = notReadable(path, MAX_AUTHORITIES_BYTES);
  if (wrong !== undefined) return wrong;
  return readFileSync(path, 'latin1').includes('-----BEGIN CERTIFICATE-----')
    ? undefined
    : 'no certificate in PEM form in it';
}

/** The files and folders that the configuration names, and what is wrong with them. */
export function unreadable(root: SourceNode | undefined): Mistake[] {
  const at = (...pattern: Path) => scalarsAt(root, pattern);
  const widget = ['shops', '*', 'chat', 'widget'];
  const looks: readonly (readonly [Located[], Look, expected: string, fix: string])[] = [
    [
      at('smtp', 'tls', '*'),
      mustOpen,
      'a readable file',
      'write the path of a PEM file (certbot: fullchain.pem and privkey.pem), or remove tls to use a self-signed certificate',
    ],
    [
      [...at('localPlatform', 'replies', 'relayCa'), ...at('alerts', 'email', 'relayCa')],
      authorities,
      'a readable file with certificates',
      'write the path of a PEM file, or remove the key to trust the well-known authorities',
    ],
    [
      [...at(...widget, 'agent', 'picture'), ...at(...widget, 'people', '*', 'picture')],
      picture,
      'a readable file: PNG, JPEG, WebP, GIF or AVIF',
      'write the path of a picture of at most 512 KiB, or remove the key to show initials',
    ],
    [
      at(...widget, 'languages', '*', 'file'),
      json,
      'a readable file of JSON',
      'write the path of a JSON file of texts, or remove the entry',
    ],
    [
      at('localPlatform', 'agent', 'knowledge'),
      (path) => void readdirSync(path),
      'a readable folder',
      'write the path of a folder of Markdown files',
    ],
  ];
  return looks.flatMap(([places, look, expected, fix]) =>
    places.flatMap(({ path, node }) => {
      const found = wrongAbout(node.text, look);
      if (found === undefined) return [];
      return [
        {
          path: showPath(path),
          place: node.place,
          expected,
          ...(isPath(node.text)
            ? { found: `${JSON.stringify(node.written ?? node.text)}: ${found}`, fix }
            : {
                found: 'the text of a file (not shown)',
                fix: 'save it as a file, and write its path',
              }),
        },
      ];
    }),
  );
}

function wrongAbout(path: string, look: Look): string | undefined {
  try {
    return look(path);
  } catch (error) {
    return whyUnreadable(error);
  }
}
