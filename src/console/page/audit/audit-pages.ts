import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { AuditLine } from '../../contract.ts';
import { api } from '../api.ts';
import type { Refusal } from '../refusal.ts';
import { asRefusal } from '../load.ts';

const PAGE = 100;

export interface AuditLines {
  readonly lines: readonly AuditLine[];
  readonly isLoading: boolean;
  readonly isAtEnd: boolean;
  readonly failure: Refusal | undefined;
  readonly more: () => void;
  /** From the newest again. */
  readonly restart: () => void;
}

/** The audit, page by page, the newest first. */
export function useAudit(): AuditLines {
  const [lines, setLines] = useState<readonly AuditLine[]>([]);
  const [isLoading, setLoading] = useState(false);
  const [isAtEnd, setAtEnd] = useState(false);
  const [failure, setFailure] = useState<Refusal | undefined>();
  const next = useRef<number | undefined>(undefined);
  const asking = useRef<AbortController | undefined>(undefined);

  const load = useCallback((isFirst: boolean) => {
    if (asking.current !== undefined && !isFirst) return;
    asking.current?.abort();
    const abort = new AbortController();
    asking.current = abort;
    setLoading(true);
    setFailure(undefined);
    const before = isFirst ? undefined : next.current;
    api
      .audit({ before, limit: PAGE }, abort.signal)
      .then((page) => {
        if (abort.signal.aborted) return;
        next.current = page.next;
        setLines((all) => (isFirst ? page.lines : [...all, ...page.lines]));
        setAtEnd(page.next === undefined);
      })
      .catch((error: unknown) => {
        if (!abort.signal.aborted) setFailure(asRefusal(error));
      })
      .finally(() => {
        if (asking.current !== abort) return;
        asking.current = undefined;
        setLoading(false);
      });
  }, []);
  useEffect(() => {
    load(true);
    return () => asking.current?.abort();
  }, [load]);
  const more = useCallback(() => load(false), [load]);
  const restart = useCallback(() => load(true), [load]);
  return { lines, isLoading, isAtEnd, failure, more, restart };
}
