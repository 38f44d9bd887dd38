import { useUi } from './ui.ts';
import { chime } from './chime.ts';
import { Icon } from './icon.tsx';
import { Popover } from './popover.tsx';

export function Menu() {
  const { chat, texts, hasSound, trouble } = useUi();
  const begin = async (): Promise<void> => {
    trouble.value = (await chat.newConversation()) ? '' : texts.trouble;
  };
  const toggleSound = (): void => {
    hasSound.value = !hasSound.value;
    if (hasSound.value) chime();
  };
  const isLoud = hasSound.value;
  return (
    <Popover
      kind="menu"
      class="menu"
      icon="more"
      label={texts.more}
      columns={1}
      content={(close) => {
        const choose = (action: () => void) => () => {
          close();
          action();
        };
        return (
          <>
            <button
              type="button"
              role="menuitem"
              tabIndex={-1}
              onClick={choose(() => void begin())}
            >
              <Icon name="plus" />
              {texts.newConversation}
            </button>
            <button
              type="button"
              role="menuitemcheckbox"
              tabIndex={-1}
              aria-checked={isLoud}
              onClick={choose(toggleSound)}
            >
              <Icon name="sound" />
              {texts.sound}
              {isLoud && <Icon name="tick" />}
            </button>
          </>
        );
      }}
    />
  );
}
