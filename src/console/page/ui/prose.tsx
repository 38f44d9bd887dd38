/** A sentence of the gateway; what it has set in backticks is shown as code. */
export const Prose = ({ text }: { readonly text: string }) => (
  <>
    {text
      .split(/`([^`]+)`/)
      .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
  </>
);
