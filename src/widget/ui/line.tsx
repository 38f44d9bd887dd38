import { type ComponentChild, createElement } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Line } from '../engine/chat.ts';
import { Avatar } from './avatar.tsx';
import { Countdown } from './banner.tsx';
import { Icon, type IconName } from './icon.tsx';
import { Part } from './part/part.tsx';
import { parsePlain, type RichElement, type RichNode, textOf } from './rich/plain.ts';
import type { RichParsers } from './rich/rich.ts';
import type { Texts } from '../main-part.ts';
import { useUi } from './ui.ts';

const STATE_ICONS: Readonly<Record<Line['state'], IconName>> = {
  queued: 'clock',
  sending: 'clock',
  accepted: 'tick',
  delivered: 'ticks',
  seen: 'ticks',
  failed: 'alert',
};

/** One message with its files; the last of a group also shows its time and state. */
export function LineRow(props: {
  readonly line: Line;
  readonly first: boolean;
  readonly last: boolean;
  /** Someone else than the reply before. */
  readonly isOther: boolean;
  /** It has just arrived, and is animated. */
  readonly isNew: boolean;
}) {
  const { texts, settings } = useUi();
  const { line, first, last, isOther, isNew } = props;
  const { author } = line;
  const content = useContent(line);
  const isOwn = line.from === 'visitor';
  const name = author?.name ?? settings.name ?? texts.title;
  return (
    <div
      class="line"
      data-line={line.id}
      data-seq={line.seq}
      data-from={line.from}
      data-state={line.state}
      data-first={first}
      data-last={last}
      data-new={isNew}
    >
      {!isOwn && last && <Avatar author={author ?? settings.agent} />}
      {isOther && author ? (
        <p class="by">
          <bdi>{name}</bdi> · {texts[author.kind]}
        </p>
      ) : (
        <span class="sr">{isOwn ? texts.you : name}: </span>
      )}
      {content.length > 0 && (
        <div class={isLargeEmoji(line) ? 'say large' : 'say'} dir="auto">
          {content}
          {line.rev !== undefined && <small>{texts.edited}</small>}
        </div>
      )}
      {line.files.length > 0 && (
        <Part of="files" draw={({ Files }) => <Files files={line.files} />} />
      )}
      {line.state === 'failed' ? <LineFailure line={line} /> : last && <LineFooter line={line} />}
    </div>
  );
}

function LineFooter({ line }: { readonly line: Line }) {
  const { chat, texts, formats } = useUi();
  const { state, at, from, retryAt } = line;
  const waits = state === 'queued';
  // A reply says more than that the line before it was seen.
  const isTold = waits
    ? retryAt === undefined
    : state === 'seen' && chat.lines.value.at(-1) === line;
  return (
    <p class="meta">
      {waits && retryAt !== undefined ? (
        <Countdown text={texts.tooFast} until={retryAt} />
      ) : (
        <time dateTime={new Date(at).toISOString()}>{formats.time(at)}</time>
      )}
      {from === 'visitor' && (
        <>
          <span class={isTold ? 'state' : 'sr'}>{texts[state]}</span>
          <Icon name={STATE_ICONS[state]} />
        </>
      )}
    </p>
  );
}

function LineFailure({ line }: { readonly line: Line }) {
  const { chat, texts } = useUi();
  return (
    <div class="meta failure">
      <span role="alert">
        <Icon name="alert" />
        <span>{errorTextOf(line, texts)}</span>
      </span>
      {line.seq === undefined && (
        <>
          <button type="button" onClick={() => chat.retry(line.id)}>
            {texts.tryAgain}
          </button>
          <button type="button" onClick={() => chat.discard(line.id)}>
            {texts.delete}
          </button>
        </>
      )}
    </div>
  );
}

function errorTextOf({ error, retryAt }: Line, texts: Texts) {
  if (retryAt !== undefined) return <Countdown text={texts.tooFast} until={retryAt} />;
  if (error === 'too_large') return texts.tooLong;
  return texts.failed;
}

/**
 * A line's text as elements; the page never parses it as markup. Until the parsers are loaded, it is
 * shown as plain text.
 */
function useContent({ text, format }: Line): readonly ComponentChild[] {
  const parsers = useUi().parsers.value;
  return useMemo(() => {
    const nodes = parse(text, format, parsers);
    // There is no empty bubble.
    return nodes.some((node) => textOf(node).trim()) ? nodes.map(drawNode) : [];
  }, [text, format, parsers]);
}

/** Whether it is up to three emoji and nothing else. */
function isLargeEmoji({ text }: Line): boolean {
  // Longer than three flags or families: not worth segmenting.
  if (text.length > 60) return false;
  const segments = [...new Intl.Segmenter().segment(text.trim())];
  return segments.length <= 3 && segments.every(({ segment }) => EMOJI.test(segment));
}

const EMOJI = /^(\p{Extended_Pictographic}(?!\ufe0e)|\p{Regional_Indicator}{2})/u;

/** When a parser fails, the reply is shown as plain text, so that the panel keeps working. */
export function parse(
  text: string,
  format: Line['format'],
  parsers: RichParsers | undefined,
): readonly RichNode[] {
  try {
    return format === 'TEXT' || !parsers ? parsePlain(text) : parsers[format](text);
  } catch {
    return [text];
  }
}

function drawNode(node: RichNode): ComponentChild {
  if (typeof node === 'string') return node;
  const { tag, children } = node;
  if (tag === 'br' || tag === 'hr') return createElement(tag, null);
  // It scrolls within its own box, which has to be reachable by keyboard, as `pre` below.
  if (tag === 'table') {
    return (
      <div class="scrolls" tabIndex={0}>
        <table>{children.map(drawNode)}</table>
      </div>
    );
  }
  return createElement(tag === 'h' ? 'strong' : tag, attributesOf(node), ...children.map(drawNode));
}

function attributesOf({ tag, href, start }: RichElement): Record<string, unknown> | null {
  if (tag === 'a') return { href, target: '_blank', rel: 'noopener noreferrer' };
  if (tag === 'h') return { class: 'heading' };
  if (tag === 'pre') return { class: 'scrolls', tabIndex: 0, dir: 'ltr' };
  return tag === 'ol' ? { start } : null;
}
