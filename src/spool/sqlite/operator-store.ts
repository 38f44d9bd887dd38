import { decodeRecord } from '../delivery-record.ts';
import type { OperatorStore } from '../operator-store.ts';
import type { SearchThreads } from '../search/search-threads.ts';
import type { BallastedCalls } from './ballasted-calls.ts';

/** What operators ask, of the database and of the index beside it. */
export function createOperatorStore(calls: BallastedCalls, index: SearchThreads): OperatorStore {
  return {
    search: (search) => index.ask('search', search),
    countFound: (filters, most) => index.ask('count', filters, most),
    searchBacklog: () => index.ask('backlog'),
    summaries: (ids) => index.ask('summaries', ids),
    neighbours: (id) => index.ask('neighbours', id),
    record: async (id) => {
      const stored = await calls.call('record', id);
      return stored === undefined ? undefined : decodeRecord(stored);
    },
    restore: (id) => calls.call('restore', id),
    takeBack: (id, to, reason) => calls.call('takeBack', id, to, reason),
    audit: (line) => calls.call('audit', line),
    auditLines: (page) => calls.call('auditLines', page),
  };
}
