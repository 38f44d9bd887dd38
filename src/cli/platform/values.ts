import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../../config/duration.ts';
import { isBaseUrl } from '../../platform-api/transport.ts';

/** What options take; each throws `InvalidArgumentError`, before any request is made. */

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

export function uuid(value: string): string {
  if (UUID.test(value)) return value;
  throw new InvalidArgumentError(
    'Expected a uuid such as 0b6c9c2e-7b1f-4a55-9f6e-0d6f0a3f1c11, as lists show it.',
  );
}

export const uuids = (value: string): readonly string[] => parts(value).map(uuid);

export const words = (value: string): readonly string[] => parts(value);

export function integer(value: string): number {
  if (/^-?\d{1,15}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('Expected a whole number.');
}

export const integers = (value: string): readonly number[] => parts(value).map(integer);

/** At least 1; what is too many, the platform says. */
export function pageSize(value: string): number {
  const size = /^\d{1,6}$/.test(value) ? Number(value) : 0;
  if (size > 0) return size;
  throw new InvalidArgumentError('Expected a whole number of at least 1.');
}

export function bool(value: string): boolean {
  if (value === 'true' || value === 'false') return value === 'true';
  throw new InvalidArgumentError('Expected true or false.');
}

/** Milliseconds; none is no timeout but a mistake. */
export function timeout(value: string): number {
  const duration = parseDuration(value);
  if (duration !== undefined && duration > 0) return duration;
  throw new InvalidArgumentError('Expected a duration such as 30s or 2m.');
}

export function httpUrl(value: string): string {
  if (isBaseUrl(value)) return value;
  throw new InvalidArgumentError('Expected a URL such as http://127.0.0.1:8082.');
}

export interface Mailbox {
  readonly email: string;
  readonly name?: string;
}

/** `ann@example.com` or `Ann Lee <ann@example.com>`, added to those given before. */
export function mailbox(value: string, before: readonly Mailbox[] = []): readonly Mailbox[] {
  const [, name = '', bracketed] = /^([^<>]*)<([^<>\s]+@[^<>\s]+)>\s*$/.exec(value) ?? [];
  const email = bracketed ?? value.trim();
  if (!/^[^\s<>]+@[^\s<>]+$/.test(email)) {
    throw new InvalidArgumentError('Expected an address such as "Ann Lee <ann@example.com>".');
  }
  const shown = name.trim().replace(/^"(.*)"$/, '$1');
  return [...before, { email, ...(shown !== '' && { name: shown }) }];
}

/** `name=value`, added to those given before. */
export function property(
  value: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const at = value.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Expected name=value.');
  return { ...before, [value.slice(0, at)]: value.slice(at + 1) };
}

export interface Metric {
  readonly metric_name: string;
  readonly value?: number;
}

/** `name=number`, or a name alone. */
export function metric(value: string): Metric {
  const [, name, amount] = /^([^=]+)(?:=(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?))?$/.exec(value) ?? [];
  if (name === undefined) throw new InvalidArgumentError('Expected name or name=number.');
  return { metric_name: name, ...(amount !== undefined && { value: Number(amount) }) };
}

function parts(value: string): string[] {
  const list = value.split(',').map((part) => part.trim());
  if (list.every((part) => part !== '')) return list;
  throw new InvalidArgumentError('Expected values with commas between them.');
}
