import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Form } from '../contract/form.ts';

const path = 'model_limits';

/** The models that a key may use, as a list to choose from. No choice allows all models. */
export function ModelsField({ form, models }: { form: Form; models: readonly string[] }) {
  const filter = useSignal('');
  useEffect(() => form.show(path), [form]);
  const text = form.get(path);
  const chosen = typeof text === 'string' ? text.split(',').filter(Boolean) : [];
  const problem = form.problem(path);
  const shown = [...new Set([...chosen, ...models])].filter((id) => id.includes(filter.value.trim()));
  const toggle = (id: string) =>
    form.set(
      path,
      (chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id]).join(','),
    );
  return (
    <fieldset class="field models-field">
      <legend class="field-label">
        Models
        <span class="field-limit">{chosen.length === 0 ? 'all' : `${chosen.length} chosen`}</span>
      </legend>
      <input
        class="input"
        type="search"
        placeholder="Filter models"
        aria-label="Filter models"
        value={filter.value}
        onInput={(event) => (filter.value = event.currentTarget.value)}
      />
      <div class="models-list">
        {shown.map((id) => (
          <label key={id} class="check">
            <input type="checkbox" checked={chosen.includes(id)} onChange={() => toggle(id)} />
            <span class="mono">{id}</span>
          </label>
        ))}
        {shown.length === 0 && <p class="muted">No model matches.</p>}
      </div>
      {problem && (
        <p class="field-error" role="alert">
          {problem}
        </p>
      )}
    </fieldset>
  );
}
