import { readFileSync } from 'node:fs';

/** The same path from src/gateway/ and from dist/gateway/. */
const MANIFEST = new URL('../../package.json', import.meta.url);

/** The version of this program; empty if it is unknown. */
export function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(MANIFEST, 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : '';
}
