import type { Main, MainOptions } from '../../../src/widget/main-part.ts';
import { createApp } from '../../../src/widget/ui/app.tsx';
import { fakeChat } from './fake-chat.ts';
import { sceneOf } from './scenes.ts';

const scene = await sceneOf(new URL(location.href).searchParams.get('scene') ?? '');

/** The real page of the widget, with a conversation that goes by a script. */
export const mount = (options: MainOptions): Main => createApp(options, fakeChat(scene), undefined);
