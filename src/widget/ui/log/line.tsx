import { useUi } from '../ui.ts';
import type { Line } from '../../engine/chat.ts';
import type { Texts } from '../../texts/en.ts';
import { Avatar } from '../avatar.tsx';
import { Countdown } from '../countdown.tsx';
import { Icon, type IconName } from '../icon.tsx';
import { Rich } from '../rich/rich.tsx';
import { Files } from './files.tsx';

const STATE_ICONS: Readonly<Record<Line['state'], IconName>> = {
  queued: 'clock',
  sending: 'clock',
  accepted: 'tick',
  delivered: 'ticks',
  failed: 'alert',
};

/** One message with its files, and at the end of a group when it was written and where it is. */
export function LineRow(props: {
  readonly line: Line;
  readonly first: boolean;
  readonly last: boolean;
  /** It has just come: it moves into its place. */
  readonly fresh: boolean;
}) {
  const { texts, settings } = useUi();
  const { line, first, last, fresh } = props;
  const isOwn = line.from === 'visitor';
  return (
    <div
      class="line"
      data-line={line.id}
      data-from={line.from}
      data-state={line.state}
      data-first={first}
      data-last={last}
      data-fresh={fresh}
    >
      {!isOwn && last && <Avatar />}
      <span class="sr">{isOwn ? texts.you : (settings.name ?? texts.title)}: </span>
      {line.text !== '' && (
        <div class="say" dir="auto">
          <Rich text={line.text} format={line.format} />
        </div>
      )}
      <Files files={line.files} />
      {line.state === 'failed' ? <Failure line={line} /> : last && <Meta line={line} />}
    </div>
  );
}

function Meta({ line }: { readonly line: Line }) {
  const { texts, formats } = useUi();
  const { state, at, from, retryAt } = line;
  const waits = state === 'queued';
  return (
    <p class="meta">
      {waits && retryAt !== undefined ? (
        <Countdown text={texts.tooFast} until={retryAt} />
      ) : (
        <time dateTime={new Date(at).toISOString()}>{formats.time(at)}</time>
      )}
      {from === 'visitor' && (
        <>
          <span class={waits && retryAt === undefined ? 'state' : 'sr'}>{texts[state]}</span>
          <Icon name={STATE_ICONS[state]} />
        </>
      )}
    </p>
  );
}

function Failure({ line }: { readonly line: Line }) {
  const { chat, texts } = useUi();
  return (
    <div class="meta failure">
      <span role="alert">
        <Icon name="alert" />
        <span>{faultOf(line, texts)}</span>
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

function faultOf({ error, retryAt }: Line, texts: Texts) {
  if (retryAt !== undefined) return <Countdown text={texts.tooFast} until={retryAt} />;
  if (error === 'too_large') return texts.tooLong;
  return texts.failed;
}
