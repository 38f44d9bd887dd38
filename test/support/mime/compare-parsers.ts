import { mkdirSync } from 'node:fs';
import { type MailSeed, mutateMail, readMailSeeds } from '../mail-mutations.ts';
import { checkMail } from './check-mail.ts';
import { generateMime } from './generate-mime.ts';
import { type Reason, REASONS } from './mime-differences.ts';

/** What a message may take. */
const SLOW_MS = 5000;
/** Every so many come from a file, as large mail does. */
const EVERY_FROM_FILE = 7;

export interface ParserRun {
  readonly kind: 'generated' | 'mutated';
  readonly seeds: Iterable<number>;
  /** An empty folder; whoever made it removes it. */
  readonly folder: string;
  readonly onProgress?: (messages: number) => void;
}

export interface Finding {
  readonly seed: number;
  /** What is odd about the message, or what was done to it. */
  readonly recipe: string;
  readonly what: string;
}

export interface ParserReport {
  readonly messages: number;
  /** How many messages differ for which reason. */
  readonly reasons: Readonly<Record<Reason, number>>;
  readonly unexplained: readonly Finding[];
  /** Parts of the second parser that are in neither the text, nor an attachment, nor the notes. */
  readonly lost: readonly Finding[];
  /** Parts of a generated message that are not as they were written. */
  readonly notAsWritten: readonly Finding[];
  readonly crashes: readonly Finding[];
  readonly slow: readonly Finding[];
}

/** Reads messages with Sluice and with the second parser, one for each seed. */
export async function compareParsers(run: ParserRun): Promise<ParserReport> {
  const { kind, seeds, folder } = run;
  mkdirSync(folder, { recursive: true });
  const mail = kind === 'mutated' ? readMailSeeds() : [];
  const reasons = Object.fromEntries(Object.keys(REASONS).map((reason) => [reason, 0])) as Record<
    Reason,
    number
  >;
  const report = {
    ...{ messages: 0, reasons, unexplained: new Array<Finding>(), lost: new Array<Finding>() },
    ...{ notAsWritten: new Array<Finding>(), crashes: new Array<Finding>() },
    slow: new Array<Finding>(),
  };
  for (const seed of seeds) {
    const message = messageOf(kind, mail, seed);
    const note = (found: Finding[], what: readonly string[]) => {
      if (what.length > 0) found.push({ seed, recipe: message.recipe, what: what.join('\n') });
    };
    const from = seed % EVERY_FROM_FILE === 0 ? 'file' : 'memory';
    try {
      const check = await checkMail(message, folder, from);
      for (const reason of check.reasons) reasons[reason] += 1;
      note(report.unexplained, check.unexplained);
      note(report.lost, check.lost);
      note(report.notAsWritten, check.notAsWritten);
      note(report.slow, check.ms > SLOW_MS ? [`${check.ms.toFixed(0)} ms`] : []);
    } catch (error) {
      note(report.crashes, [String(error)]);
    }
    report.messages += 1;
    run.onProgress?.(report.messages);
  }
  return report;
}

/** The message of a seed. */
export function messageOf(kind: ParserRun['kind'], mail: readonly MailSeed[], seed: number) {
  return kind === 'mutated' ? mutateMail(mail, seed) : generateMime(seed);
}
