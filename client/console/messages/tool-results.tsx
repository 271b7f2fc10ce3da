import { useSignal } from '@preact/signals';
import { ArrowUp } from 'lucide';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { components } from '../../index.ts';
import { Button } from '../parts/button.tsx';
import type { InputBlock } from './conversation.ts';
import { focusIfLost } from './focus.ts';

type ToolUse = components['schemas']['ToolUseBlock'];

interface ToolResultsProps {
  uses: readonly ToolUse[];
  onSend: (results: InputBlock[]) => void;
}

/** The results of the tools that the model called. */
export function ToolResults({ uses, onSend }: ToolResultsProps) {
  const results = useSignal<Readonly<Record<string, { content: string; isError: boolean }>>>({});
  const element = useRef<HTMLFormElement>(null);
  useEffect(() => focusIfLost(element.current?.querySelector('textarea') ?? null), []);
  const resultOf = (id: string) => results.value[id] ?? { content: '', isError: false };
  const send = () =>
    onSend(
      uses.map(({ id }): InputBlock => {
        const { content, isError } = resultOf(id);
        return { type: 'tool_result', tool_use_id: id, content, ...(isError && { is_error: true }) };
      }),
    );
  return (
    <form
      ref={element}
      class="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {uses.map((use) => (
        <ToolResult
          key={use.id}
          use={use}
          {...resultOf(use.id)}
          onChange={(change) => {
            results.value = { ...results.value, [use.id]: { ...resultOf(use.id), ...change } };
          }}
        />
      ))}
      <div class="row-between">
        <span class="field-hint">The conversation continues with the results.</span>
        <Button small submit variant="primary" icon={ArrowUp}>
          {uses.length === 1 ? 'Send result' : 'Send results'}
        </Button>
      </div>
    </form>
  );
}

interface ToolResultProps {
  use: ToolUse;
  content: string;
  isError: boolean;
  onChange: (change: { content?: string; isError?: boolean }) => void;
}

function ToolResult({ use, content, isError, onChange }: ToolResultProps) {
  const id = useId();
  return (
    <div class="field">
      <label class="field-label" for={id}>
        Result of {use.name}
      </label>
      <textarea
        id={id}
        class="input"
        rows={2}
        placeholder="17:40"
        value={content}
        onInput={(event) => onChange({ content: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          event.currentTarget.form?.requestSubmit();
        }}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={isError}
          onChange={(event) => onChange({ isError: event.currentTarget.checked })}
        />
        The tool failed
      </label>
    </div>
  );
}
