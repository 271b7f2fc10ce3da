import { useSignal } from '@preact/signals';
import { useEffect, useId } from 'preact/hooks';
import type { Form } from '../contract/form.ts';

const path = 'thresholds';

/** Percentages of a budget at which an event is sent, separated by commas. */
export function ThresholdsField({ form }: { form: Form }) {
  const id = useId();
  const value = form.get(path);
  const text = useSignal(Array.isArray(value) ? value.join(', ') : '');
  useEffect(() => form.show(path), [form]);
  const problem = form.problem(path);
  return (
    <div class="field">
      <label class="field-label" for={id}>
        Thresholds
        <span class="field-limit">percentages</span>
      </label>
      <input
        id={id}
        class="input"
        inputMode="numeric"
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-hint`}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          form.set(
            path,
            text.value
              .split(',')
              .filter((part) => part.trim() !== '')
              .map(Number),
          );
        }}
      />
      {problem ? (
        <p class="field-error" id={`${id}-hint`} role="alert">
          {problem}
        </p>
      ) : (
        <p class="field-hint" id={`${id}-hint`}>
          The event budget.reached is sent at each of them.
        </p>
      )}
    </div>
  );
}
