import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { codeOf } from '../../src/runtime/error-code.ts';
import { BALLAST_FILE } from '../../src/spool/ballast.ts';

/**
 * Every file below a folder that holds a text in any way in which `strings` and a patient reader
 * would find it: in any case, as UTF-16, in base64 at each of its three places, as quoted-printable
 * or in a URL. The ballast is left out: 48 MiB of random bytes, made before any message came.
 */
export function filesWith(folder: string, text: string): string[] {
  const needles = formsOf(text);
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== BALLAST_FILE)
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => {
      const bytes = contentsOf(file);
      const lower = bytes.toLowerCase();
      return (
        needles.exact.some((form) => bytes.includes(form)) ||
        needles.anyCase.some((form) => lower.includes(form))
      );
    })
    .map((file) => relative(folder, file))
    .sort();
}

/** Beside a gateway some files are there for a moment only. */
function contentsOf(file: string): string {
  try {
    return readFileSync(file).toString('latin1');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  }
}

function formsOf(text: string): { readonly exact: string[]; readonly anyCase: string[] } {
  const plain = text.toLowerCase();
  return {
    exact: [0, 1, 2].map((shift) => base64Within(text, shift)),
    anyCase: [
      plain,
      Buffer.from(plain, 'utf16le').toString('latin1'),
      plain.replaceAll('@', '=40'),
      plain.replaceAll('@', '%40'),
    ],
  };
}

/** What of base64 is the same whatever stands before and behind the text. */
function base64Within(text: string, shift: number): string {
  const encoded = Buffer.from(`${'x'.repeat(shift)}${text}`).toString('base64');
  const from = Math.ceil((shift * 8) / 6);
  const bits = (shift + Buffer.byteLength(text)) * 8;
  return encoded.slice(from, Math.floor(bits / 6));
}
