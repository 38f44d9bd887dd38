/** What the platform says, with its whole answer folded; without words of its own, the reason. */
export const Because = (props: { readonly reason: string; readonly words: string | undefined }) =>
  props.words === undefined ? (
    <p class="because">{props.reason}</p>
  ) : (
    <div>
      <p>
        The platform says: <q>{props.words}</q>
      </p>
      <details>
        <summary class="muted">The whole answer</summary>
        <p class="because">{props.reason}</p>
      </details>
    </div>
  );
