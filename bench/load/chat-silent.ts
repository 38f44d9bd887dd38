import type { Socket } from 'node:net';
import { silentClient, maskedFrame } from '../../test/support/raw-web-socket.ts';

/** Tabs of one visitor that keep requesting their history and never read it. */
export function start({ port, auth }: { port: number; auth: object }) {
  const tabs: Socket[] = [];
  return Promise.resolve({
    open: async (count: number): Promise<void> => {
      for (let nth = 0; nth < count; nth += 1) {
        const tab = await silentClient(`http://127.0.0.1:${port}`, `40${JSON.stringify(auth)}`);
        tab.pause();
        tabs.push(tab);
      }
    },
    /** Each tab sends this many requests. */
    ask: (times: number): void => {
      for (const tab of tabs) {
        for (let nth = 0; nth < times; nth += 1)
          tab.write(maskedFrame('421["history",{"limit":100}]'));
      }
    },
    close: () => {
      for (const tab of tabs) tab.destroy();
    },
  });
}
