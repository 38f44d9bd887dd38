import { type Language, languageOf } from './language.ts';
import { withoutEnd } from '../../runtime/without-end.ts';

/** A part of a Markdown file under one heading; answers quote it. */
export interface Section {
  /** The file's path within the folder. */
  readonly source: string;
  /** The file's first level-one heading, else its name. */
  readonly title: string;
  /** The section's heading; the title for text before the first heading. */
  readonly heading: string;
  /** Markdown. */
  readonly text: string;
  /** The text of HTML comments, which is searched and never shown. */
  readonly also: string;
  /** Its parts between commas: other ways to ask for this. */
  readonly phrases: readonly string[];
  /** Whether its phrases are questions that the texts do not answer: a person does, and it is never shown. */
  readonly isForPeople: boolean;
  /** The file's language, when it is clearly one of the agent's. */
  readonly language: Language | undefined;
}

const SECTIONS_MAX = 1000;
const PHRASES_MAX = 500;
const TEXT_MAX_CHARS = 4000;
const COMMENTS_MAX_CHARS = 20_000;
/** What a comment with phrases begins with. */
const ALSO = /^\s*(?:also|for people):/i;
const FOR_PEOPLE = /^\s*for people:/i;
const HEADING_MAX_CHARS = 300;
const FRONT_MATTER = /^---\n[^]*?\n---\n/;
const HEADING = /^#{1,6}[ \t]+([^ \t].*)$/;
const FENCE = /^\s{0,3}(?:```|~~~)/;

/**
 * Splits a Markdown file at its headings (ATX, CommonMark §4.2). A # within a code fence is not a
 * heading. A heading without text below it is left out, unless a comment says what is for people.
 */
export function sectionsOf(markdown: string, source: string): Section[] {
  const lines = markdown.replace(/\r\n?/g, '\n').replace(FRONT_MATTER, '').split('\n');
  const parts: { heading: string | undefined; level: number; lines: string[] }[] = [];
  let inFence = false;
  for (const line of lines) {
    if (FENCE.test(line)) inFence = !inFence;
    const heading =
      inFence || line.length > HEADING_MAX_CHARS ? undefined : HEADING.exec(line)?.[1];
    if (heading === undefined) {
      if (parts.length === 0) parts.push({ heading: undefined, level: 0, lines: [] });
      parts.at(-1)?.lines.push(line);
    } else {
      parts.push({ heading: withoutEnd(heading, /[ \t#]/), level: line.indexOf(' '), lines: [] });
    }
  }
  const title = parts.find(({ level }) => level === 1)?.heading ?? nameOf(source);
  const language = languageOf(markdown);
  return parts
    .slice(0, SECTIONS_MAX)
    .map(({ heading, lines: body }) => ({
      source,
      title,
      heading: heading ?? title,
      ...withoutComments(body.join('\n')),
      language,
    }))
    .filter(({ text, isForPeople }) => text !== '' || isForPeople);
}

function withoutComments(
  markdown: string,
): Pick<Section, 'text' | 'also' | 'phrases' | 'isForPeople'> {
  const comments: string[] = [];
  // Not a regular expression: many unclosed "<!--" would take quadratic time.
  let text = '';
  let at = 0;
  for (;;) {
    const start = markdown.indexOf('<!--', at);
    const end = start < 0 ? -1 : markdown.indexOf('-->', start + 4);
    if (end < 0) break;
    text += markdown.slice(at, start);
    comments.push(markdown.slice(start + 4, end));
    at = end + 3;
  }
  text += markdown.slice(at);
  return {
    text: text
      .replace(/\n{3,}/g, '\n\n')
      .trim()
      .slice(0, TEXT_MAX_CHARS),
    also: comments.join(' ').slice(0, COMMENTS_MAX_CHARS),
    phrases: comments
      .flatMap((comment) =>
        comment
          .slice(0, COMMENTS_MAX_CHARS)
          .replace(ALSO, '')
          .split(/[,;\n]/),
      )
      .map((phrase) => phrase.trim())
      .filter((phrase) => phrase !== '')
      .slice(0, PHRASES_MAX),
    isForPeople: comments.some((comment) => FOR_PEOPLE.test(comment)),
  };
}

/** `help/opening-hours.md` is "opening hours". */
const nameOf = (source: string) =>
  source
    .replace(/^.*[\\/]/, '')
    .replace(/\.md$/i, '')
    .replace(/[-_]+/g, ' ');
