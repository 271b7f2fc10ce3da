import type { IconNode } from 'lucide';
import { h } from 'preact';

/** An icon of Lucide. Decorative: the text beside it, or the label of its button, names it. */
export function Icon({ node, size = 16, className }: { node: IconNode; size?: number; className?: string }) {
  return (
    <svg
      class={className}
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {node.map(([tag, attributes], index) => h(tag, { key: index, ...attributes }))}
    </svg>
  );
}
