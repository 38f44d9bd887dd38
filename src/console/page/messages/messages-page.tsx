import { useLocation } from 'preact-iso';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { EntryAction, EntryRow } from '../../contract.ts';
import { api, asRefusal } from '../api.ts';
import { gatewayNow } from '../now.ts';
import { connection, onEntries } from '../stream.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { Failure, PageTitle, Skeleton } from '../ui/page-parts.tsx';
import { toast } from '../ui/overlays.tsx';
import { actOnMany, actOnOne } from './acting.ts';
import {
  BulkPanel,
  ConfirmAction,
  type Intent,
  SelectionBar,
  totalLine,
} from './selection-bar.tsx';
import { EntryTable, NothingFound, useRowHeight, viewOf } from './entry-table.tsx';
import { FilterBar } from './filter-bar.tsx';
import { allFound, entryQuery, matchWords, wholeId, writeFilters } from './filters.ts';
import { keepScroll, keptScroll, lastQuery, list, useFilters } from './list-state.ts';
import { useListKeys } from './list-keys.ts';
import './messages.css';
import {
  actionsFor,
  countStates,
  extendTo,
  isEmpty,
  NOTHING,
  selectAll,
  type Selection,
  toggle,
} from './actions.ts';
import { scrollToShow } from './message-list.ts';

/** What is fixed at the top of the screen while the list is scrolled. */
const COVERED_PX = 110;
const SCROLL_KEPT_AFTER_MS = 200;

export function MessagesPage() {
  const state = useFilters();
  const { filters } = state;
  const address = writeFilters(filters);
  const { route } = useLocation();
  const body = useRef<HTMLDivElement>(null);
  const [selection, setSelection] = useState<Selection>(NOTHING);
  const [cursor, setCursor] = useState<string>();
  const [intent, setIntent] = useState<Intent>();
  const rowHeight = useRowHeight();
  const pages = list.pages.value;
  const announced = list.announced.value;

  useShownList(address, () => entryQuery(filters, gatewayNow()));
  useEffect(() => {
    setSelection(NOTHING);
    setCursor(undefined);
  }, [address]);
  useLiveList();

  const picked = (): readonly EntryRow[] => {
    const ids = selection.kind === 'some' ? selection.ids : new Set<string>();
    return [...pages.rows()].flatMap(({ row }) => (ids.has(row.id) ? [row] : []));
  };
  // A picked row may be so far from the screen that it is not in memory: its state is not known.
  const target = (): readonly string[] => {
    if (selection.kind === 'some' && selection.ids.size > 0) return [...selection.ids];
    return cursor === undefined || pages.find(cursor) === undefined ? [] : [cursor];
  };
  const offered = (): readonly EntryAction[] => {
    if (selection.kind === 'all') return actionsFor(new Set(filters.states));
    const rows = picked();
    const isAllKnown = rows.length === selection.ids.size;
    return actionsFor(new Set(isAllKnown ? rows.map(({ state: each }) => each) : []));
  };

  const act = (action: EntryAction) => {
    const total = list.total.value;
    if (selection.kind === 'all') {
      setIntent({
        action,
        count: total?.count ?? pages.total,
        more: total?.exact !== true,
        states: new Map(),
        found: matchWords(filters),
      });
      return;
    }
    const ids = target();
    const [only] = ids;
    if (only === undefined) {
      toast({ text: 'Select a message first (x), or move to one (j, k).' });
      return;
    }
    if (ids.length === 1 && action !== 'release') {
      setSelection(NOTHING);
      void actOnOne({ action, ids }, () => list.changed(ids));
      return;
    }
    const rows = ids.flatMap((id) => pages.find(id)?.row ?? []);
    setIntent({ action, count: ids.length, more: false, states: countStates(rows) });
  };

  const confirm = async ({ action }: Intent) => {
    const request =
      selection.kind === 'all'
        ? { action, filter: allFound(filters, gatewayNow()) }
        : { action, ids: target() };
    const hasBegun = await actOnMany(request);
    setIntent(undefined);
    if (hasBegun) setSelection(NOTHING);
  };

  const showNew = () => {
    scrollTo(0, 0);
    void list.show(entryQuery(filters, gatewayNow()));
  };
  const move = (by: 1 | -1) => {
    const at = cursor === undefined ? -1 : pages.indexOf(cursor);
    const index = Math.max(0, at + (at < 0 ? 1 : by));
    const id = pages.at(index)?.row.id;
    if (id === undefined || body.current === null) return;
    const { scrollTop, viewHeight } = viewOf(body.current);
    const top = scrollToShow(index, scrollTop + COVERED_PX, viewHeight - COVERED_PX, rowHeight);
    if (scrollTop > 0 || top > scrollTop + COVERED_PX) scrollBy(0, top - scrollTop - COVERED_PX);
    setCursor(id);
    // The row may only be there after the list has looked at where it is scrolled to.
    requestAnimationFrame(() => requestAnimationFrame(() => focusRow(id)));
  };
  useListKeys({
    move,
    pick: (extend) => {
      if (cursor !== undefined) pick(cursor, extend);
    },
    retry: () => act('retry'),
    release: () => act('release'),
    discard: () => act('discard'),
    clear: () => setSelection(NOTHING),
    showNew,
  });
  const pick = (id: string, extend: boolean) => {
    setCursor(id);
    setSelection((now) =>
      extend ? extendTo(now, id, (a, b) => pages.between(a, b)) : toggle(now, id),
    );
  };
  const openId = (text: string): boolean => {
    const id = wholeId(text);
    if (id === undefined) return false;
    api.entry(id).then(
      () => route(`/messages/${id}`),
      // It may be the platform's id of a message, which the search knows as well.
      () => state.type({ text }),
    );
    return true;
  };

  const { loading, failure, total, searchIsComplete } = list;
  const isNothing = pages.isLoaded && pages.total === 0;
  return (
    <div class="messages">
      <PageTitle title="Messages">
        <p class="muted" role="status">
          {total.value !== undefined && pages.isLoaded && totalLine(total.value)}
        </p>
      </PageTitle>
      <FilterBar state={state} onId={openId} />
      {!searchIsComplete.value && filters.text !== '' && (
        <p class="note warning">
          <Icon name="info" />
          <span>
            The search index still catches up: messages may be missing here. New ones come first.
          </span>
        </p>
      )}
      <BulkPanel />
      <div class="above-list">
        {!isEmpty(selection) && (
          <SelectionBar
            {...{ selection }}
            actions={offered()}
            onAct={act}
            onAll={() => setSelection({ kind: 'all' })}
            onNone={() => setSelection(NOTHING)}
          />
        )}
        <div class="news" role="status">
          {announced !== undefined && (
            <Button look="primary" size="small" icon="again" onClick={showNew}>
              {`${announced.count}${announced.more ? '+' : ''} new`}
            </Button>
          )}
        </div>
      </div>
      <div class={loading.value ? 'loading' : undefined}>
        {!pages.isLoaded && loading.value && <Skeleton lines={12} height={30} />}
        {failure.value !== undefined && pages.total === 0 && (
          <Failure refusal={asRefusal(failure.value)} onRetry={() => list.retry()} />
        )}
        {isNothing && failure.value === undefined && <NothingFound state={state} />}
        {pages.total > 0 && (
          <EntryTable
            bodyRef={body}
            {...{ selection, cursor }}
            onPick={pick}
            onPickAll={(isOn) =>
              setSelection(
                isOn ? selectAll([...pages.rows()].map(({ row: { id } }) => id)) : NOTHING,
              )
            }
          />
        )}
        <ListEnd />
      </div>
      <ConfirmAction {...{ intent }} onClose={() => setIntent(undefined)} onConfirm={confirm} />
    </div>
  );
}

/** The end of the list, after the last row. */
function ListEnd() {
  const { pages, failure, loadingMore } = list;
  const { total, next } = pages.value;
  if (total === 0) return null;
  if (failure.value !== undefined) {
    return (
      <p class="list-end" role="alert">
        {asRefusal(failure.value).message}{' '}
        <Button size="small" icon="again" onClick={() => list.retry()}>
          Try again
        </Button>
      </p>
    );
  }
  if (list.isCut) {
    return (
      <p class="list-end muted">
        This is as far as one can scroll. To look further back, choose an earlier time above.
      </p>
    );
  }
  if (next === undefined) return <p class="list-end muted">That is all.</p>;
  return <div class="list-end">{loadingMore.value && <Skeleton lines={3} height={30} />}</div>;
}

/** Shows what the address asks for; on return the list is as it was left. */
function useShownList(address: string, query: () => ReturnType<typeof entryQuery>): void {
  const shownFor = useRef<string | undefined>(undefined);
  useLayoutEffect(() => {
    const kept = shownFor.current === undefined ? keptScroll() : undefined;
    shownFor.current = address;
    if (kept !== undefined && list.pages.value.isLoaded && lastQuery.value === address) {
      list.refreshAll();
      // After the router and the layout have done theirs.
      requestAnimationFrame(() => scrollTo(0, kept));
    } else {
      lastQuery.value = address;
      void list.show(query());
    }
  }, [address]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onScroll = () => {
      clearTimeout(timer);
      timer = setTimeout(keepScroll, SCROLL_KEPT_AFTER_MS);
    };
    // Before the router takes the click and makes a new history entry.
    const onClick = (event: Event) => {
      if (event.target instanceof Element && event.target.closest('a') !== null) keepScroll();
    };
    addEventListener('scroll', onScroll, { passive: true });
    document.addEventListener('click', onClick, { capture: true });
    return () => {
      clearTimeout(timer);
      removeEventListener('scroll', onScroll);
      document.removeEventListener('click', onClick, { capture: true });
      list.stop();
    };
  }, []);
}

function useLiveList(): void {
  useEffect(() => onEntries((ids) => list.changed(ids)), []);
  const isLive = connection.value === 'live';
  const wasLive = useRef(isLive);
  useEffect(() => {
    if (isLive && !wasLive.current) list.refreshAll();
    wasLive.current = isLive;
  }, [isLive]);
}

function focusRow(id: string): void {
  const link = document.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"] a`);
  link?.focus({ preventScroll: true });
}
