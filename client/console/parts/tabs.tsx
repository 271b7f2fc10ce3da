import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface TabsProps {
  /** Accessible name of the list of tabs. */
  label: string;
  names: readonly string[];
  selected: string;
  onSelect: (name: string) => void;
  children: ComponentChildren;
}

/** Tabs with the keyboard behavior of the ARIA pattern: arrow keys select the next or previous tab. */
export function Tabs({ label, names, selected, onSelect, children }: TabsProps) {
  const id = useId();
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const index = (names.indexOf(selected) + step + names.length) % names.length;
    onSelect(names[index] ?? selected);
    document.getElementById(`${id}-${index}`)?.focus();
  };
  return (
    <div>
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
        {names.map((name, index) => (
          <button
            key={name}
            type="button"
            class="tab"
            role="tab"
            id={`${id}-${index}`}
            aria-selected={name === selected}
            aria-controls={`${id}-panel`}
            tabIndex={name === selected ? 0 : -1}
            onClick={() => onSelect(name)}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${names.indexOf(selected)}`}>
        {children}
      </div>
    </div>
  );
}
