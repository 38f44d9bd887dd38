import MarkdownIt from 'markdown-it';

/** A longer answer is no letter; what comes after is in the text part. */
const MAX_CHARS = 100_000;

/** HTML is text: the agent may repeat what a customer wrote. */
const markdown = new MarkdownIt({ html: false, breaks: true, linkify: true });
// An image is fetched when the mail is opened: it tells somebody that it was.
markdown.disable('image');
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
markdown.validateLink = (url) => /^(?:https?|mailto|tel):/i.test(url.trim());

/** An answer's Markdown (CommonMark) as the HTML part of an email, without a tag but its own. */
export function htmlOf(text: string): string {
  const body = markdown.render(text.slice(0, MAX_CHARS));
  return `<!DOCTYPE html>\n<html><body>\n${body}</body></html>\n`;
}
