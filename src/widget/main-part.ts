import type { Settings } from './settings.ts';

/** What a page hears by `Sluice.on`. */
export interface WidgetEvents {
  ready: undefined;
  open: undefined;
  close: undefined;
  message: {
    readonly id: string;
    readonly from: 'visitor' | 'agent';
    readonly text: string;
    readonly at: number;
  };
  unread: number;
  error: { readonly code: string };
}

export type Emit = <Name extends keyof WidgetEvents>(
  event: Name,
  detail: WidgetEvents[Name],
) => void;

/** What the loader hands to the part that it has fetched. */
export interface MainOptions {
  readonly root: ShadowRoot;
  /** Where the panel goes: language, direction, scheme and accent are set around it. */
  readonly frame: HTMLElement;
  readonly gatewayUrl: string;
  readonly key: string;
  readonly settings: Settings;
  /** Somebody has written here before: their unread count shows before anything is opened. */
  readonly hasSession: boolean;
  readonly emit: Emit;
  /** Asks the loader to close: the launcher and the page hear of it there. */
  readonly close: () => void;
}

/** The part behind the launcher: the panel and the conversation. */
export interface Main {
  setOpen(open: boolean): void;
  /** The launcher's name: what it does, and how many replies wait. */
  labelOf(isOpen: boolean, unread: number): string;
  identify(jwt: string): void;
  logout(): void;
}

/** What `main-<hash>.js` exports. */
export interface MainModule {
  readonly mount: (options: MainOptions) => Main;
}
