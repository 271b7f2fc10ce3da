import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface WorkbenchProps {
  /** The form of the call. */
  form: ComponentChildren;
  /** The last call's result, its error or the id of its task. Undefined while there is nothing to see. */
  outcome: unknown;
  /** The result and the code. */
  children: ComponentChildren;
}

/** A form on the left, its result on the right. In one column, a new outcome is scrolled into view. */
export function Workbench({ form, outcome, children }: WorkbenchProps) {
  const results = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { current } = results;
    if (outcome === undefined || current === null) return;
    const { top } = current.getBoundingClientRect();
    if (top >= 0 && top < innerHeight / 2) return;
    const isReduced = matchMedia('(prefers-reduced-motion: reduce)').matches;
    current.scrollIntoView({ behavior: isReduced ? 'instant' : 'smooth' });
  }, [outcome]);
  return (
    <div class="workbench">
      {form}
      <div ref={results} class="stack">
        {children}
      </div>
    </div>
  );
}
