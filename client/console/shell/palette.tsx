import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { useAllModels } from '../calls/models.ts';
import { useLoaded } from '../calls/run.ts';
import { contract } from '../contract/contract.ts';
import { visiblePages } from '../pages.ts';
import { Icon } from '../parts/icon.tsx';
import { useClient } from '../session/session.ts';
import { type Command, findCommands, pageCommands } from './commands.ts';

/** Tasks that are found by their model or state. Older ones are found by their id. */
const newestTasks = 50;

/** The command palette: finds pages, models, tasks, operations, errors and actions, and opens one with Enter. */
export function Palette({ onClose }: { onClose: () => void }) {
  const client = useClient();
  const text = useSignal('');
  const index = useSignal(0);
  const element = useRef<HTMLDialogElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const models = useAllModels() ?? [];
  const recent = useLoaded((signal) => client.me.tasks.list({ page_size: newestTasks }, { signal })).state
    .value;
  const tasks = recent.status === 'done' ? recent.result.items : [];
  useEffect(() => element.current?.showModal(), []);
  const pages = visiblePages.value;
  const found =
    text.value.trim() === ''
      ? pageCommands(pages)
      : findCommands(text.value, { pages, models, tasks, contract: contract.value });
  const selected = Math.min(index.value, found.length - 1);
  useEffect(() => {
    list.current?.children[selected]?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
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
        aria-label="Search the console"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={`palette-${selected}`}
        placeholder="Search pages, models, tasks, operations and errors"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          index.value = 0;
        }}
        onKeyDown={move}
      />
      <ul ref={list} id="palette-list" role="listbox" aria-label="Results">
        {found.map((command, position) => (
          <li
            key={`${command.group} ${command.title}`}
            id={`palette-${position}`}
            role="option"
            aria-selected={position === selected}
            onClick={() => run(command)}
          >
            <Icon node={command.icon} />
            <span class="palette-title">{command.title}</span>
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
