/** The product's sign: three channels, one of them open. */
export const Mark = () => (
  <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="9" />
    <path d="M9 10v12M16 7v18M23 10v12" />
  </svg>
);
