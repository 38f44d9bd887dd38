import type { Language } from '../language.ts';
import { type Hit, isSure, type Knowledge } from './knowledge.ts';

const PARTS_MAX = 20;
const READ_CHARS = 4000;

/**
 * The sections that answer a message, best first: each question in it is looked up alone, for a
 * letter says much that is no question. Without a question mark, the sentence that fits best counts.
 */
export function answersTo(
  knowledge: Knowledge,
  text: string,
  subject: string | undefined,
  language: Language | undefined,
  limit: number,
): Hit[] {
  const parts = sentencesOf(text);
  const best = (question: string) =>
    knowledge.search(question, language, 5).filter(isSure).sort(byFit)[0];
  const asked = parts.filter((part) => part.endsWith('?')).flatMap((part) => best(part) ?? []);
  if (asked.length > 0) return distinct(asked).slice(0, limit);
  const said = [subject ?? '', ...parts, text].flatMap((part) => best(part) ?? []).sort(byFit);
  return distinct(said).slice(0, 1);
}

/** A word that is rare makes a high score: it counts less where the other words are not found. */
const byFit = (a: Hit, b: Hit) => b.share * b.score - a.share * a.score;

function sentencesOf(text: string): string[] {
  return text
    .slice(0, READ_CHARS)
    .split(/(?<=[.?!])\s+|\n+/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .slice(0, PARTS_MAX);
}

function distinct(hits: readonly Hit[]): Hit[] {
  const seen = new Set<unknown>();
  return hits.filter(({ section }) => !seen.has(section) && seen.add(section));
}
