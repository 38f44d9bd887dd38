import { useRef, useState } from 'preact/hooks';
import { Button } from './button.tsx';
import { toast } from './overlays.tsx';

const SAID_MS = 2_000;

/** Copies a text; `what` says which: "Copy the webhook's address". */
export function CopyButton(props: {
  readonly text: string;
  readonly what: string;
  /** Shown as a word beside the icon. */
  readonly withWord?: boolean;
}) {
  const [isCopied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(props.text);
    } catch {
      // Without TLS on another machine than this one, a browser has no clipboard for a page.
      if (!copyBySelection(props.text)) {
        toast({ tone: 'danger', text: 'The browser does not let this page copy.' });
        return;
      }
    }
    setCopied(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setCopied(false), SAID_MS);
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

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  const before = document.activeElement;
  document.body.append(area);
  area.select();
  // Deprecated, and the only way where `navigator.clipboard` is missing.
  // oxlint-disable-next-line typescript/no-deprecated
  const done = document.execCommand('copy');
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  return done;
}
