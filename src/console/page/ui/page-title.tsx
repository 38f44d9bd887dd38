import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

/** The heading of a page, which gets the focus when the page is entered, and the tab's title. */
export function PageTitle(props: {
  readonly title: string;
  /** What may be done with the whole page. */
  readonly children?: ComponentChildren;
}) {
  useEffect(() => {
    document.title = `${props.title} · Sluice`;
  }, [props.title]);
  return (
    <div class="page-title">
      <h1 tabIndex={-1}>{props.title}</h1>
      {props.children !== undefined && <div class="page-tools">{props.children}</div>}
    </div>
  );
}
