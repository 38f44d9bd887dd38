import { useEffect, useState } from 'preact/hooks';
import { api } from '../../api.ts';
import { useRequest } from '../../loading.ts';
import { Input } from '../../ui/field.tsx';
import { Dialog } from '../../ui/overlays.tsx';
import { NotLoaded } from '../../ui/page-parts.tsx';
import type { CannedTexts } from '../../../contract.ts';

interface TextsProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly onChoose: (text: string) => void;
}

const WAIT_MS = 150;

/** Finds a section of the shop's own texts, for the reply. */
export const TextsDialog = (props: TextsProps) => (
  <Dialog open={props.open} title="Insert a text" onClose={props.onClose}>
    <Texts onChoose={props.onChoose} />
  </Dialog>
);

function Texts({ onChoose }: Pick<TextsProps, 'onChoose'>) {
  const [words, setWords] = useState('');
  const { data, failure, send } = useRequest<CannedTexts>(true);
  const load = () => send((signal) => api.deskTexts(words, signal));
  useEffect(() => {
    const timer = setTimeout(load, words === '' ? 0 : WAIT_MS);
    return () => clearTimeout(timer);
  }, [words]);
  return (
    <div class="texts">
      <Input
        label="Words of the text"
        placeholder="Words of the text"
        type="search"
        value={words}
        maxLength={200}
        autocomplete="off"
        onInput={(event) => setWords(event.currentTarget.value)}
      />
      {data === undefined ? (
        <NotLoaded {...{ failure }} onRetry={load} lines={4} />
      ) : data.texts.length === 0 ? (
        <p class="muted">
          {words === ''
            ? 'There are no texts: set localPlatform.agent.knowledge to a folder of Markdown files.'
            : 'No text has these words.'}
        </p>
      ) : (
        <ul class="texts-found rows">
          {data.texts.map(({ title, heading, text }, index) => (
            <li key={index}>
              <button type="button" onClick={() => onChoose(text)}>
                <b>{heading}</b>
                {title !== heading && <span class="muted small"> {title}</span>}
                <span class="muted small ellipsis">{text}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
