import type { IconNode } from 'lucide';
import type { ComponentType } from 'preact';
import type { Right } from '../session/session.ts';

/** A page of the console. */
export interface Page {
  /** Path in the address: `#/<path>`. */
  path: string;
  title: string;
  /** Section of the sidebar. */
  group: 'Start' | 'Playground' | 'Monitor' | 'Manage' | 'Reference';
  icon: IconNode;
  /** Purpose of the page in a few words. */
  summary: string;
  /** Further words that the command palette finds. */
  keywords: string;
  /** Rights of which a key needs one to see the page. */
  requires?: readonly Right[];
  load: () => Promise<{ default: ComponentType<{ pages: readonly Page[] }> }>;
}
