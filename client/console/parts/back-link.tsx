import { ArrowLeft } from 'lucide';
import type { ComponentChildren } from 'preact';
import { Icon } from './icon.tsx';

/** A link from the page of one item to its list. */
export function BackLink({ href, children }: { href: string; children: ComponentChildren }) {
  return (
    <a class="back-link" href={href}>
      <Icon node={ArrowLeft} />
      {children}
    </a>
  );
}
