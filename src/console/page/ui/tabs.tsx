import './tabs.css';
import type { ComponentChildren } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';

export interface Tab {
  readonly key: string;
  readonly label: string;
  readonly render: () => ComponentChildren;
}

/** Several views of one thing, one of them shown; arrow keys lead from one to the next. */
export function Tabs(props: {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly tools?: ComponentChildren;
}) {
  const { label, tabs, tools } = props;
  const [chosen, setChosen] = useState(tabs[0]?.key);
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const current = tabs.find(({ key }) => key === chosen) ?? tabs[0];
  const step = (event: KeyboardEvent) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = tabs.findIndex(({ key }) => key === current?.key);
    const next = by === undefined ? undefined : tabs[(at + by + tabs.length) % tabs.length];
    if (next === undefined) return;
    event.preventDefault();
    setChosen(next.key);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.key}"]`)?.focus();
  };
  if (current === undefined) return null;
  return (
    <div class="tabs">
      <div class="tabs-line">
        <div role="tablist" aria-label={label} ref={list} onKeyDown={step}>
          {tabs.map((tab) => (
            <button
              key={tab.key}
              type="button"
              role="tab"
              id={`${id}-${tab.key}`}
              data-tab={tab.key}
              aria-selected={tab.key === current.key}
              aria-controls={`${id}-panel`}
              tabIndex={tab.key === current.key ? 0 : -1}
              onClick={() => setChosen(tab.key)}
            >
              {tab.label}
            </button>
          ))}
        </div>
        {tools}
      </div>
      <div
        key={current.key}
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-${current.key}`}
        tabIndex={0}
      >
        {current.render()}
      </div>
    </div>
  );
}
