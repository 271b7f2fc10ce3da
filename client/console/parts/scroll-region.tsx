import type { ComponentChildren } from 'preact';

interface ScrollRegionProps {
  label: string;
  class?: string;
  children: ComponentChildren;
}

/** Scrolls a table that is wider than the page, also by keyboard. */
export function ScrollRegion({ label, class: name, children }: ScrollRegionProps) {
  return (
    <div class={`table-scroll ${name ?? ''}`.trim()} tabIndex={0} role="region" aria-label={label}>
      {children}
    </div>
  );
}
