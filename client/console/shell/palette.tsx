import { useSignal } from '@preact/signals';
import { BookOpen, FileCode, type IconNode, LogOut, SunMoon } from 'lucide';
import { useEffect, useRef } from 'preact/hooks';
import { visiblePages } from '../pages.ts';
import { Icon } from '../parts/icon.tsx';
import { gatewayUrl, signOut } from '../session/session.ts';
import type { Page } from './page.ts';
import { navigate } from './router.ts';
import { toggleTheme } from './theme.ts';

interface Command {
  title: string;
  group: string;
  icon: IconNode;
  keywords: string;
  run: () => void;
}

const open = (path: string) => () => location.assign(`${gatewayUrl}${path}`);

const actions: readonly Command[] = [
  { title: 'Switch the theme', group: 'Action', icon: SunMoon, keywords: 'dark light', run: toggleTheme },
  { title: 'Documentation', group: 'Link', icon: BookOpen, keywords: 'guides docs', run: open('/docs') },
  {
    title: 'API reference',
    group: 'Link',
    icon: FileCode,
    keywords: 'openapi',
    run: open('/docs/reference'),
  },
  { title: 'Sign out', group: 'Action', icon: LogOut, keywords: 'key', run: () => signOut() },
];

/** The command palette: finds a page or an action by name, and runs it with Enter. */
export function Palette({ onClose }: { onClose: () => void }) {
  const text = useSignal('');
  const index = useSignal(0);
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => element.current?.showModal(), []);
  const commands = [...visiblePages.value.map(toCommand), ...actions];
  const words = text.value.toLowerCase().split(/\s+/);
  const found = commands.filter(({ title, keywords }) =>
    words.every((word) => `${title} ${keywords}`.toLowerCase().includes(word)),
  );
  const selected = Math.min(index.value, found.length - 1);
  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    element.current?.close();
    command.run();
  };
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') run(found[selected]);
    if (step === undefined || found.length === 0) return;
    event.preventDefault();
    index.value = (selected + step + found.length) % found.length;
  };
  return (
    <dialog
      ref={element}
      class="palette"
      aria-label="Command palette"
      onClose={onClose}
      onClick={(event) => {
        if (event.target === event.currentTarget) event.currentTarget.close();
      }}
    >
      <input
        type="text"
        role="combobox"
        aria-label="Search pages and actions"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={`palette-${selected}`}
        placeholder="Search pages and actions"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          index.value = 0;
        }}
        onKeyDown={move}
      />
      <ul id="palette-list" role="listbox" aria-label="Results">
        {found.map((command, position) => (
          <li
            key={command.title}
            id={`palette-${position}`}
            role="option"
            aria-selected={position === selected}
            onClick={() => run(command)}
          >
            <Icon node={command.icon} />
            {command.title}
            <span class="muted">{command.group}</span>
          </li>
        ))}
        {found.length === 0 && (
          <li role="option" aria-selected="false" aria-disabled="true">
            No results.
          </li>
        )}
      </ul>
    </dialog>
  );
}

const toCommand = ({ path, title, group, icon, keywords }: Page): Command => ({
  title,
  group,
  icon,
  keywords,
  run: () => navigate(path),
});
