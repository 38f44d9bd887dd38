import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import type { Zone } from '../../../support/dns-server.ts';

const FOLDER = 'test/fixtures/email-auth';
const zoneSchema = z.record(z.string(), z.array(z.string()));

/** A message that make.py in the same folder has signed. */
export function authFixture(name: string): Buffer {
  return readFileSync(join(FOLDER, `${name}.eml`));
}

/** The keys and policies of those who sent them. */
export function authZone(): Zone {
  return zoneSchema.parse(JSON.parse(readFileSync(join(FOLDER, 'zone.json'), 'utf8')));
}
