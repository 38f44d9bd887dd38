import type { IconName } from '../ui/icon.tsx';

/** Each action of the contract, in words. */
const WORDS: Readonly<Record<string, readonly [IconName, string]>> = {
  login: ['lock', 'Signed in'],
  login_failed: ['alert', 'Sign-in refused'],
  logout: ['signOut', 'Signed out'],
  retry: ['again', 'Retried'],
  release: ['play', 'Released'],
  discard: ['discarded', 'Discarded'],
  restore: ['back', 'Restored'],
  undo: ['back', 'Took back'],
  open: ['file', 'Opened the content'],
  download: ['download', 'Downloaded'],
  export: ['download', 'Exported'],
  ingest: ['messages', 'Ingested'],
  erase: ['discarded', 'Erased'],
  reload: ['configuration', 'Reloaded the configuration'],
  test_message: ['send', 'Sent a test message'],
  try: ['again', 'Tried a shop'],
};

export const wordsOf = (action: string): readonly [icon: IconName, words: string] =>
  WORDS[action] ?? ['info', action.replaceAll('_', ' ')];

/** Ids of entries are UUIDs. */
export const isEntry = (target: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(target);
