import { useId } from 'preact/hooks';
import type { Form } from '../contract/form.ts';

const budgets = [1_024, 4_096, 16_384];

/** Whether the model thinks before it answers, and for how many tokens. */
export function ThinkingField({ form }: { form: Form }) {
  const id = useId();
  const thinking = form.get('thinking') as { type: string; budget_tokens?: number } | undefined;
  return (
    <div class="field">
      <label class="field-label" for={id}>
        Thinking
      </label>
      <select
        id={id}
        class="input"
        value={thinking?.budget_tokens ?? thinking?.type ?? ''}
        onChange={({ currentTarget: { value } }) => form.set('thinking', thinkingOf(value))}
      >
        <option value="">Default</option>
        <option value="adaptive">The model decides (adaptive)</option>
        <option value="disabled">Off (disabled)</option>
        {budgets.map((budget) => (
          <option key={budget} value={budget}>
            Up to {budget} tokens
          </option>
        ))}
      </select>
      <p class="field-hint">The thinking is part of the maximum tokens.</p>
    </div>
  );
}

function thinkingOf(choice: string): object | undefined {
  if (choice === '') return undefined;
  const budget = Number(choice);
  return Number.isNaN(budget) ? { type: choice } : { type: 'enabled', budget_tokens: budget };
}
