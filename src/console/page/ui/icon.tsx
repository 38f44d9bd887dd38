const PATHS = {
  overview: 'M3.5 12.5h4l2.5-7 4 13 2.5-6h4',
  messages: 'M4 6.5h16v11H4ZM4 7l8 6 8-6',
  platform: 'M5 5h14v5H5ZM5 14h14v5H5ZM8 7.5h.01M8 16.5h.01',
  configuration: 'M4 7.5h9M17 7.5h3M4 16.5h3M11 16.5h9M15 5.2v4.6M9 14.2v4.6',
  audit: 'M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM12 7.5V12l3 2',
  doctor: 'M9 4.5h6v4.5h4.5v6H15v4.5H9V15H4.5V9H9Z',
  email: 'M4 6.5h16v11H4ZM4 7l8 6 8-6',
  sms: 'M8 3.5h8a1.5 1.5 0 0 1 1.5 1.5v14a1.5 1.5 0 0 1-1.5 1.5H8A1.5 1.5 0 0 1 6.5 19V5A1.5 1.5 0 0 1 8 3.5ZM11 17.5h2',
  web_chat:
    'M12 4c-4.7 0-8.5 3.3-8.5 7.3 0 2.1 1 4 2.6 5.3.1 1.1-.3 2.2-1.1 3.1 1.8-.1 3.3-.8 4.4-1.8.8.2 1.7.3 2.6.3 4.7 0 8.5-3.1 8.5-6.9S16.7 4 12 4Z',
  queued: 'M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM12 7.5V12l3 2',
  delivering: 'M4.5 12h14M13 6.5l5.5 5.5-5.5 5.5',
  delivered: 'M5 12.5l4.5 4.5L19 7.5',
  dead: 'M7 7l10 10M17 7L7 17',
  held: 'M9 6v12M15 6v12',
  suppressed: 'M12 20.5a8.5 8.5 0 1 0 0-17 8.5 8.5 0 0 0 0 17ZM6.2 6.2l11.6 11.6',
  discarded: 'M5 7h14M10 7V4.5h4V7M7 7l.8 12.5h8.4L17 7M10.5 10.5v5.5M13.5 10.5v5.5',
  ok: 'M5 12.5l4.5 4.5L19 7.5',
  warning: 'M12 4.5 21 19.5H3ZM12 10v4.5M12 17.2v.01',
  failed: 'M7 7l10 10M17 7L7 17',
  skipped: 'M6 12h12',
  alert: 'M12 8v4.5M12 15.8v.01M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z',
  info: 'M12 11v5M12 8v.01M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z',
  close: 'M7 7l10 10M17 7L7 17',
  copy: 'M9 9h10.5v10.5H9ZM15 9V4.5H4.5V15H9',
  search: 'M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM15.5 15.5l4.5 4.5',
  menu: 'M4 7h16M4 12h16M4 17h16',
  more: 'M5.5 12h.01M12 12h.01M18.5 12h.01',
  again: 'M19.5 12a7.5 7.5 0 1 1-2.3-5.4L19.5 9M19.5 4.5V9H15',
  back: 'M14.5 6l-6 6 6 6',
  forward: 'M9.5 6l6 6-6 6',
  down: 'M6 9.5l6 6 6-6',
  external: 'M10 5H5v14h14v-5M14 5h5v5M19 5l-9 9',
  download: 'M12 4.5V15M7 10.5l5 5 5-5M5 19.5h14',
  file: 'M13.5 3.5H7a1.5 1.5 0 0 0-1.5 1.5v14A1.5 1.5 0 0 0 7 20.5h10a1.5 1.5 0 0 0 1.5-1.5V8.5l-5-5ZM13.5 3.5v5h5',
  send: 'M4.5 12l15-7-5 15-3-6.5ZM11.5 13.5l8-8.5',
  pause: 'M9 6v12M15 6v12',
  play: 'M8 5.5v13l10.5-6.5Z',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM4.5 20c.8-3.6 3.8-5.5 7.5-5.5s6.7 1.9 7.5 5.5',
  lock: 'M6 11h12v9H6ZM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  light:
    'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4',
  dark: 'M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10Z',
  system: 'M4 5h16v11H4ZM9 20h6M12 16v4',
  signOut: 'M10 5H5v14h5M14 8l4 4-4 4M18 12H9.5',
  keyboard: 'M3.5 6.5h17v11h-17ZM7 10h.01M10.3 10h.01M13.7 10h.01M17 10h.01M8 14h8',
} as const;

export type IconName = keyof typeof PATHS;

/** An icon in the colour of the text; the text beside it gives the meaning. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <path d={PATHS[name]} />
  </svg>
);

/** The product's logo. */
export const Mark = () => (
  <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="9" />
    <path d="M9 10v12M16 7v18M23 10v12" />
  </svg>
);
