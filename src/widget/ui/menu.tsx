import { useUi, view } from './view.ts';
import { chime } from './chime.ts';
import { Icon } from './icon.tsx';
import { Tool } from './tool.tsx';
import { usePopover } from './popover.ts';

export const Menu = view(() => {
  const { chat, texts, hasSound, trouble } = useUi();
  const popover = usePopover(1);
  const choose = (action: () => void) => () => {
    popover.close();
    action();
  };
  const begin = async (): Promise<void> => {
    trouble.value = (await chat.newConversation()) ? '' : texts.trouble;
  };
  const toggleSound = (): void => {
    hasSound.value = !hasSound.value;
    if (hasSound.value) chime();
  };
  return (
    <div class="menu">
      <Tool
        icon="more"
        label={texts.more}
        button={popover.button}
        popup="menu"
        isOpen={popover.isOpen}
        onClick={popover.toggle}
      />
      {popover.isOpen && (
        <div
          class="popover"
          role="menu"
          aria-label={texts.more}
          ref={popover.box}
          onKeyDown={popover.onKeyDown}
        >
          <button type="button" role="menuitem" tabIndex={-1} onClick={choose(() => void begin())}>
            <Icon name="plus" />
            {texts.newConversation}
          </button>
          <button
            type="button"
            role="menuitemcheckbox"
            tabIndex={-1}
            aria-checked={hasSound.value}
            onClick={choose(toggleSound)}
          >
            <Icon name="sound" />
            {texts.sound}
            {hasSound.value && <Icon name="tick" />}
          </button>
        </div>
      )}
    </div>
  );
});
