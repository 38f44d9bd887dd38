import { isIP } from 'node:net';
import type { Config } from './config.ts';

/** What is allowed and probably not meant. One sentence each, without values that are secret. */
export function warningsOf(config: Config): string[] {
  const warnings: string[] = [];
  const { shops } = config;
  const local = isLoopback(new URL(config.http.publicUrl).hostname);
  if (local && shops.some((shop) => shop.sms !== undefined)) {
    warnings.push(
      'http.publicUrl is this machine: Twilio cannot reach it, and its signatures will not match',
    );
  }
  if (!isLoopback(config.admin.host) && config.admin.password === undefined) {
    warnings.push('admin.host is not the loopback interface; set admin.password yourself');
  }
  if (!config.smtp.enabled && shops.some((shop) => shop.email !== undefined)) {
    warnings.push('smtp.enabled is false: email arrives only by POST /email/inbound');
  }
  if (!config.http.enabled && shops.some((shop) => shop.sms ?? shop.chat)) {
    warnings.push('http.enabled is false: no SMS and no chat can arrive');
  }
  for (const [index, shop] of shops.entries()) {
    const url = shop.platformUrl ?? config.platform.url;
    if (url.startsWith('http:') && !isLoopback(new URL(url).hostname)) {
      warnings.push(`shops[${index}] sends its apiKey over http, which is not encrypted`);
    }
  }
  return [...warnings, ...notInEffect(config)];
}

/**
 * What can be written down already and does nothing in this version. An operator who relies on it
 * must hear so at every start.
 */
function notInEffect({ localPlatform }: Config): string[] {
  const set: string[] = [];
  if (localPlatform.replies?.relay !== undefined) set.push('localPlatform.replies.relay');
  if (set.length === 0) return [];
  return [`not in effect in this version: ${set.join(', ')}`];
}

function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '');
  return bare === 'localhost' || bare === '::1' || (isIP(bare) === 4 && bare.startsWith('127.'));
}
