import type { Guide } from './guides.ts';

/** An entry of the sidebar: a page, or a group of pages. */
export interface MenuEntry {
  text: string;
  /** Path of the page, from the root of the gateway. */
  link?: string;
  items?: MenuEntry[];
  collapsed?: boolean;
}

/** Sections of guides, in the order of the menu. A guide that no section names is in `byTask`. */
const byTask = 'Guides';
const sections: Readonly<Record<string, readonly string[]>> = {
  'Get started': ['quick-start', 'sdk-migration', 'core-concepts', 'choosing-a-format'],
  [byTask]: [],
  Realtime: ['realtime', 'browser'],
  Operate: [
    'deployment',
    'keys-and-quota',
    'billing',
    'monitoring',
    'scaling-out',
    'backup-and-restore',
    'backup-and-restore',
    'security',
    'embedding',
  ],
  Contract: ['conformance-testing', 'mock-server', 'generators', 'versions'],
};

/** Returns the section of a guide. */
const sectionOf = (name: string): string =>
  Object.keys(sections).find((section) => sections[section]?.includes(name)) ?? byTask;

/** Returns the guides of each section that has any, in the order of the menu. */
export function guidesBySection(guides: readonly Guide[]): [section: string, guides: Guide[]][] {
  return Object.keys(sections)
    .map((section): [string, Guide[]] => [section, guides.filter(({ name }) => sectionOf(name) === section)])
    .filter(([, found]) => found.length > 0);
}

/** Returns the sidebar. `more` are further pages of a section, after its guides. */
export function sidebarOf(
  guides: readonly Guide[],
  more: Readonly<Record<string, readonly MenuEntry[]>>,
): MenuEntry[] {
  const own = guidesBySection(guides).map(
    ([section, found]): MenuEntry => ({
      text: section,
      items: [
        ...found.map(({ name, title }) => ({ text: title, link: `/docs/${name}` })),
        ...(more[section] ?? []),
      ],
    }),
  );
  const others = Object.entries(more).filter(([section]) => !own.some(({ text }) => text === section));
  return [...own, ...others.map(([text, items]): MenuEntry => ({ text, items: [...items] }))];
}
