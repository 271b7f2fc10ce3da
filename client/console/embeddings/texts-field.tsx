import { ListPlus, X } from 'lucide';
import { useEffect, useRef } from 'preact/hooks';
import type { Form } from '../contract/form.ts';
import { Button, IconButton } from '../parts/button.tsx';
import { formatCount } from '../parts/numbers.tsx';
import type { TextDraft, TextDrafts } from './texts.ts';

/** The list of texts. Enter adds a text, Backspace removes an empty one, and pasted lines become texts. */
export function TextsField({ form, drafts }: { form: Form; drafts: TextDrafts }) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => form.show('input'), [form]);
  const texts = drafts.texts.value;
  useEffect(() => form.set('input', texts.length === 0 ? undefined : texts), [texts]);
  const problem = form.problem('input');
  const focus = (index: number) =>
    requestAnimationFrame(() => list.current?.querySelectorAll('input')[Math.max(index, 0)]?.focus());
  const { value: entries } = drafts.drafts;
  const insert = (index: number, lines: readonly string[]) => {
    drafts.insert(index, lines);
    focus(index + lines.length - 1);
  };
  return (
    <div class="field" role="group" aria-label="Texts">
      <div class="field-label">
        Texts <span class="field-limit">{formatCount(texts.length)}</span>
      </div>
      <ul ref={list} class="texts">
        {entries.map((draft, index) => (
          <li key={draft.id}>
            <TextInput
              draft={draft}
              number={index + 1}
              isInvalid={problem !== undefined}
              onEdit={(text) => drafts.edit(draft.id, text)}
              onAdd={(lines) => insert(index + 1, lines)}
              onRemove={() => {
                drafts.remove(draft.id);
                focus(index - 1);
              }}
            />
          </li>
        ))}
      </ul>
      {problem ? (
        <p class="field-error" role="alert">
          {problem}
        </p>
      ) : (
        <p class="field-hint">Paste several lines to add one text for each.</p>
      )}
      <div class="row">
        <Button small icon={ListPlus} onClick={() => insert(entries.length, [''])}>
          Add a text
        </Button>
      </div>
    </div>
  );
}

interface TextInputProps {
  draft: TextDraft;
  number: number;
  isInvalid: boolean;
  onEdit: (text: string) => void;
  /** Adds texts below this one. */
  onAdd: (texts: readonly string[]) => void;
  onRemove: () => void;
}

function TextInput({ draft: { text }, number, isInvalid, onEdit, onAdd, onRemove }: TextInputProps) {
  return (
    <>
      <span class="texts-number numeric" aria-hidden="true">
        {number}
      </span>
      <input
        class="input"
        type="text"
        aria-label={`Text ${number}`}
        aria-invalid={isInvalid}
        value={text}
        onInput={(event) => onEdit(event.currentTarget.value)}
        onPaste={(event) => {
          const pasted = event.clipboardData?.getData('text') ?? '';
          const lines = pasted.split(/\r?\n/).filter((line) => line.trim() !== '');
          if (lines.length < 2) return;
          event.preventDefault();
          if (text !== '') return onAdd(lines);
          const [first = '', ...rest] = lines;
          onEdit(first);
          return onAdd(rest);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey && !event.isComposing) {
            event.preventDefault();
            onAdd(['']);
          } else if (event.key === 'Backspace' && text === '') {
            event.preventDefault();
            onRemove();
          }
        }}
      />
      <IconButton icon={X} label={`Remove text ${number}`} onClick={onRemove} />
    </>
  );
}
