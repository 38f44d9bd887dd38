import { createReadStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import express, { type Request, type Router } from 'express';
import { z } from 'zod';
import type { PersonReport } from '../contract.ts';
import type { Audit } from './audit.ts';
import { checked, Refusal } from './refusal.ts';
import { actorOf, requireOperator } from './sign-in.ts';

/** Runs a command of the terminal beside this gateway; `input` is what it reads. */
export type RunBeside = (
  args: readonly string[],
  input: string,
) => Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>;

export const personSchema = z.strictObject({
  /** An email address, a number, or the id or subject of a chat visitor. */
  address: z
    .string()
    .min(1)
    .max(500)
    .regex(/^\P{Cc}+$/u),
  /** The only shop that is searched. */
  shop: z.string().min(1).max(100).optional(),
});

/** Messages of others that mention the person may be very many. */
const MAX_TEXT_CHARS = 50_000;
/** The exit code of a command that refuses what was typed. */
const USAGE = 2;

interface PeopleRouteParts {
  readonly audit: Audit;
  /** Absent in a gateway that was not started as a program. */
  readonly runBeside?: RunBeside | undefined;
}

/**
 * What is stored about a person: found, exported and erased by the commands of the terminal, in a process of their
 * own, so that a search through a million messages takes neither this one's memory nor its time.
 */
export function peopleRoutes({ audit, runBeside }: PeopleRouteParts): Router {
  const router = express.Router();
  let isBusy = false;
  const run = async (req: Request, ...args: readonly string[]): Promise<string> => {
    const { address, shop } = checked(personSchema, req.body);
    if (runBeside === undefined) {
      throw new Refusal('unavailable', 'This gateway was not started by the command serve');
    }
    if (isBusy) throw new Refusal('conflict', 'Another search or erasure is running: wait for it');
    isBusy = true;
    try {
      const ofShop = shop === undefined ? [] : [`--shop=${shop}`];
      const end = await runBeside([...args, '--address', '-', ...ofShop], `${address}\n`);
      if (end.code !== 0) {
        const words = end.stderr.trim() || 'The command failed';
        throw new Refusal(end.code === USAGE ? 'invalid' : 'unavailable', words);
      }
      return `${end.stdout}${end.stderr}`;
    } finally {
      isBusy = false;
    }
  };
  const reportOf = (text: string): PersonReport => ({
    text: text.length > MAX_TEXT_CHARS ? `${text.slice(0, MAX_TEXT_CHARS)}…` : text,
  });
  router.use('/people', requireOperator, express.json({ limit: '8kb' }));
  router.post('/people/search', async (req, res) => {
    res.json(reportOf(await run(req, 'erase', '--dry-run')));
  });
  router.post('/people/erase', async (req, res) => {
    // The command adds its own line, with the keyed hash of the person.
    const outcome = 'asked for on the console';
    await audit.write({ ...actorOf(res), action: 'erase', target: 'a person', outcome });
    res.json(reportOf(await run(req, 'erase', '--yes')));
  });
  router.post('/people/export', async (req, res) => {
    const outcome = 'asked for on the console';
    await audit.write({ ...actorOf(res), action: 'export', target: 'a person', outcome });
    const dir = await mkdtemp(join(tmpdir(), 'sluice-export-'));
    try {
      const file = join(dir, 'person.zip');
      await run(req, 'export', '--output', file);
      res.type('application/zip').attachment('sluice-export.zip');
      await pipeline(createReadStream(file), res);
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });
  return router;
}
