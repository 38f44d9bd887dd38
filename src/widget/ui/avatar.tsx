import { useState } from 'preact/hooks';
import { useUi } from './ui.ts';
import { Icon } from './icon.tsx';

/** The shop's picture; its sign where there is none, or the page's policy does not let it in. */
export function Avatar() {
  const { logo } = useUi().settings;
  const [isBroken, setBroken] = useState(false);
  return (
    <span class="avatar" aria-hidden="true">
      {logo && !isBroken ? (
        <img src={logo} alt="" onError={() => setBroken(true)} />
      ) : (
        <Icon name="chat" />
      )}
    </span>
  );
}
