import { EventEmitter } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { runCli } from '../../../src/cli/run.ts';
import type { Terminal } from '../../../src/cli/terminal.ts';
import type { LocalPlatform } from '../../../src/local-platform/local-platform.ts';
import { captureTerminal } from '../../support/capture-terminal.ts';
import { newFolder, OTHER, SHOP, startPlatform } from '../../local-platform/harness.ts';

const events = Object.assign(new EventEmitter(), { exit: () => undefined });

export const UNKNOWN_ID = '0b6c9c2e-7b1f-4a55-9f6e-0d6f0a3f1c99';
export const ACME = {
  name: 'acme',
  shopId: SHOP.shopId,
  apiKey: SHOP.apiKey,
  email: { addresses: ['support@acme.example'] },
};
export const SECOND = {
  name: 'second',
  shopId: OTHER.shopId,
  apiKey: OTHER.apiKey,
  email: { addresses: ['support@second.example'] },
};

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Setting {
  readonly platform: LocalPlatform;
  /** The file of `--config`. */
  readonly file: string;
  readonly dir: string;
  /** Runs `sluice platform …` on it, in this process. */
  readonly run: (...args: string[]) => Promise<Ran>;
}

/** What the file says: one shop with its channels, on a platform that is not embedded. */
export function configOf(url: string, dir: string, change: Record<string, unknown> = {}) {
  return {
    dataDir: join(dir, 'data'),
    platform: { url },
    shops: [
      {
        ...ACME,
        email: { addresses: ['*@help.acme.example', 'support@acme.example'] },
        sms: {
          numbers: ['+15550001111'],
          twilio: { accountSid: `AC${'0'.repeat(32)}`, authTokens: ['token-of-twilio'] },
        },
      },
    ],
    ...change,
  };
}

/** A platform on loopback, and a configuration that names it; both end with the test. */
export async function setting(change: Record<string, unknown> = {}): Promise<Setting> {
  const platform = await startPlatform();
  const dir = newFolder();
  const file = join(dir, 'sluice.json');
  writeFileSync(file, JSON.stringify(configOf(platform.url, dir, change)));
  return { platform, file, dir, run: (...args) => runOn(file, args) };
}

/** Runs one command line of `platform` with a configuration. */
export async function runOn(
  file: string,
  args: readonly string[],
  terminal: Partial<Terminal> = {},
): Promise<Ran> {
  const captured = captureTerminal({ SLUICE_CONFIG: file });
  const code = await runCli(['platform', ...args], { ...captured, ...terminal }, events);
  return { code, stdout: captured.stdout(), stderr: captured.stderr() };
}

export const inputOf = (...chunks: (string | Buffer)[]) =>
  Readable.from(chunks.map((chunk) => Buffer.from(chunk)));

/** The cells of a table's lines, the heads first. */
export const cells = (table: string): string[][] =>
  table
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/));
