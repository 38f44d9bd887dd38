import { useRef, useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { toast } from './overlays.tsx';
import { Fact } from './page-parts.tsx';

const COPIED_SHOWN_MS = 2_000;

/** Copies a text; `what` completes the label "Copy …". */
export function CopyButton(props: {
  readonly text: string;
  readonly what: string;
  /** Shows the word "Copy" beside the icon. */
  readonly withWord?: boolean;
}) {
  const [isCopied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(props.text);
    } catch {
      // Browsers provide no clipboard API over plain HTTP, except on localhost.
      if (!copyBySelection(props.text)) {
        toast({ tone: 'danger', text: 'The browser does not allow this page to copy.' });
        return;
      }
    }
    setCopied(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setCopied(false), COPIED_SHOWN_MS);
  };
  const label = isCopied ? 'Copied' : `Copy ${props.what}`;
  return (
    <>
      <Button
        look={props.withWord ? 'plain' : 'quiet'}
        size="small"
        icon={isCopied ? 'ok' : 'copy'}
        aria-label={label}
        title={label}
        onClick={() => void copy()}
      >
        {props.withWord ? (isCopied ? 'Copied' : 'Copy') : undefined}
      </Button>
      <span class="sr" role="status">
        {isCopied ? 'Copied' : ''}
      </span>
    </>
  );
}

/** A `Fact` with a copy button; `what` completes its label. */
export const CopyFact = (props: {
  readonly name: string;
  readonly text: string;
  readonly what: string;
  /** Shows the text in the font of prose. */
  readonly isProse?: boolean;
}) => (
  <Fact name={props.name} class="id-copy">
    <bdi class={props.isProse ? undefined : 'mono'}>{props.text}</bdi>
    <CopyButton text={props.text} what={props.what} />
  </Fact>
);

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  const before = document.activeElement;
  document.body.append(area);
  area.select();
  // Deprecated, but the only method without `navigator.clipboard`.
  // oxlint-disable-next-line typescript/no-deprecated
  const done = document.execCommand('copy');
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}
